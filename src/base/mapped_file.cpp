#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace evener {
namespace {

Error system_error(const std::filesystem::path& path, int error_number) {
  Code code = Code::unavailable;
  if (error_number == ENOENT || error_number == ENOTDIR) code = Code::not_found;
  if (error_number == EACCES || error_number == EPERM) code = Code::permission_denied;
  if (error_number == ENOMEM) code = Code::out_of_memory;
  return {.code = code,
          .doing = "open file",
          .where = path.string(),
          .why = std::strerror(error_number),
          .remedy = {}};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return system_error(path, errno);
  struct stat info{};
  if (::fstat(file, &info) != 0) {
    const int saved = errno;
    ::close(file);
    return system_error(path, saved);
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(file);
    return Error{.code = Code::invalid_argument,
                 .doing = "open file",
                 .where = path.string(),
                 .why = S_ISDIR(info.st_mode) ? "is a folder" : "is not a regular file",
                 .remedy = {}};
  }
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) {
    ::close(file);
    return MappedFile(path, {});
  }
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  const int saved = errno;
  ::close(file);
  if (address == MAP_FAILED) return system_error(path, saved);
  return MappedFile(path, {static_cast<const std::byte*>(address), size});
}

MappedFile::MappedFile(std::filesystem::path path, std::span<const std::byte> bytes)
    : path_(std::move(path)), bytes_(bytes) {}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::discard(size_t offset, size_t size) const {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t begin = (offset + page - 1) / page * page;
  const size_t end = std::min(offset + size, bytes_.size()) / page * page;
  if (begin >= end) return;
  ::madvise(const_cast<std::byte*>(bytes_.data()) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace evener
