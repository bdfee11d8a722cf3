#include "device/vulkan/pipeline_file.h"

#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <system_error>

#include "base/private_file.h"

namespace evener::device::vulkan {
namespace {

constexpr size_t kBytesMax = size_t{256} << 20;

// In front of the bytes.
struct Header {
  char magic[8] = {'e', 'v', 'e', 'n', 'v', 'k', 'p', '1'};
  uint64_t identity = 0;  // hash
  uint64_t size_bytes = 0;
  uint64_t content = 0;  // hash
};

uint64_t hash_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Header header_of(const std::string& identity, std::span<const std::byte> bytes) {
  Header header;
  header.identity = hash_of(std::as_bytes(std::span(identity)));
  header.size_bytes = bytes.size();
  header.content = hash_of(bytes);
  return header;
}

}  // namespace

std::optional<std::vector<std::byte>> read_pipeline_file(const std::filesystem::path& path,
                                                         const std::string& identity) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || size < sizeof(Header) || size > kBytesMax) return {};
  std::ifstream file(path, std::ios::binary);
  Header found;
  std::vector<std::byte> bytes(size - sizeof(Header));
  file.read(reinterpret_cast<char*>(&found), sizeof found);
  file.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(bytes.size()));
  if (!file) return {};
  const Header wanted = header_of(identity, bytes);
  if (std::memcmp(&found, &wanted, sizeof wanted) != 0) return {};
  return bytes;
}

Status write_pipeline_file(const std::filesystem::path& path, const std::string& identity,
                           std::span<const std::byte> bytes) {
  if (bytes.size() > kBytesMax - sizeof(Header)) return {};  // would not be read
  const Header header = header_of(identity, bytes);
  std::string content(sizeof header + bytes.size(), '\0');
  std::memcpy(content.data(), &header, sizeof header);
  std::memcpy(content.data() + sizeof header, bytes.data(), bytes.size());
  std::error_code ignored;  // writing will say it
  std::filesystem::create_directories(path.parent_path(), ignored);
  return write_private_file(path, content, "keep compiled kernels");
}

}  // namespace evener::device::vulkan
