#include "base/private_file.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace evener {
namespace {

Error of_system(const std::filesystem::path& path, int error_number, std::string_view doing) {
  Code code = Code::unavailable;
  if (error_number == ENOENT || error_number == ENOTDIR) code = Code::not_found;
  if (error_number == EACCES || error_number == EPERM || error_number == EROFS)
    code = Code::permission_denied;
  return {.code = code,
          .doing = std::string(doing),
          .where = path.string(),
          .why = std::strerror(error_number),
          .remedy = {}};
}

// 0, or the error's number.
int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

}  // namespace

Status write_private_file(const std::filesystem::path& path, std::string_view bytes,
                          std::string_view doing) {
  std::string temporary = path.string() + ".XXXXXX";
  const int file = ::mkstemp(temporary.data());
  if (file < 0) return of_system(path, errno, doing);
  int error = write_all(file, bytes);
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  return of_system(path, error, doing);
}

}  // namespace evener
