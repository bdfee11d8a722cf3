#include "gguf/writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "base/assert.h"

namespace evener::gguf {
namespace {

Error system_error(const std::filesystem::path& path, int error_number) {
  Code code = Code::unavailable;
  if (error_number == ENOENT || error_number == ENOTDIR) code = Code::not_found;
  if (error_number == EACCES || error_number == EPERM || error_number == EROFS) {
    code = Code::permission_denied;
  }
  return {.code = code,
          .doing = "write model",
          .where = path.string(),
          .why = std::strerror(error_number),
          .remedy = {}};
}

// mkstemp makes files for the owner alone; a model is an ordinary file. The mask can only be read
// by setting it, which is not safe beside other threads, so the rights of the usual mask are given.
constexpr mode_t kFileMode = 0644;

// So that the new name survives a power cut. Some file systems refuse; the file itself is safe
// then.
void sync_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace

Result<Writer> Writer::create(const std::filesystem::path& path, const Header& header) {
  Writer writer;
  std::string temporary = path.string() + ".XXXXXX";
  writer.file_ = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (writer.file_ < 0) return system_error(path, errno);
  writer.path_ = path;
  writer.temporary_path_ = temporary;
  if (::fchmod(writer.file_, kFileMode) != 0) return system_error(path, errno);
  for (size_t i = 0; i < header.num_tensors(); ++i) {
    writer.tensor_bytes_.push_back(header.tensor_bytes(i));
  }
  RETURN_IF_ERROR(writer.put(header.encode()));
  return writer;
}

Status Writer::write(std::span<const std::byte> piece) {
  if (piece.empty()) return {};
  EVENER_ASSERT(tensor_index_ < tensor_bytes_.size());
  EVENER_ASSERT(piece.size() <= tensor_bytes_[tensor_index_] - tensor_written_);
  RETURN_IF_ERROR(put(piece));
  tensor_written_ += piece.size();
  if (tensor_written_ < tensor_bytes_[tensor_index_]) return {};
  const size_t past = tensor_written_ % Header::kAlignment;
  ++tensor_index_;
  tensor_written_ = 0;
  if (past == 0) return {};
  constexpr std::array<std::byte, Header::kAlignment> kZeros{};
  return put(std::span(kZeros).first(Header::kAlignment - past));
}

Status Writer::finish() {
  EVENER_ASSERT(file_ >= 0);
  EVENER_ASSERT(tensor_index_ == tensor_bytes_.size());
  if (::fsync(file_) != 0) return system_error(path_, errno);
  // The file is renamed while it is open, so that the destructor cleans up after a failure.
  if (::rename(temporary_path_.c_str(), path_.c_str()) != 0) return system_error(path_, errno);
  ::close(std::exchange(file_, -1));  // its errors came with fsync
  sync_folder(path_);
  return {};
}

Status Writer::put(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error(path_, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Writer::Writer(Writer&& other) noexcept { *this = std::move(other); }

Writer& Writer::operator=(Writer&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_path_, other.temporary_path_);
  std::swap(file_, other.file_);
  std::swap(tensor_bytes_, other.tensor_bytes_);
  std::swap(tensor_index_, other.tensor_index_);
  std::swap(tensor_written_, other.tensor_written_);
  return *this;
}

Writer::~Writer() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_path_.c_str());
}

}  // namespace evener::gguf
