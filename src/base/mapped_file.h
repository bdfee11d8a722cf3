#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/error.h"

namespace evener {

// A whole file, mapped read-only. Movable; the bytes live as long as the object. Reading is safe
// from any thread. A file that somebody truncates while it is mapped raises SIGBUS: the operating
// system offers no better, so model files must not be edited in place.
class MappedFile {
 public:
  // Errors: not_found, permission_denied, invalid_argument (a folder), out_of_memory. An empty file
  // maps to an empty span.
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::filesystem::path& path() const { return path_; }

  // Tells the kernel that [offset, offset + size) was copied elsewhere and its pages may go.
  void discard(size_t offset, size_t size) const;

 private:
  MappedFile(std::filesystem::path path, std::span<const std::byte> bytes);

  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
};

}  // namespace evener
