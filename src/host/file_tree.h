#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace evener::host {

// The files below one folder, "/" for the live machine. Every path that collectors read goes
// through here, so a test can put a made-up /sys and /proc in its place. Opens for reading only and
// never waits for a device or a pipe. Paths are relative: "sys/bus/pci/devices".
class FileTree {
 public:
  explicit FileTree(std::filesystem::path root) : root_(std::move(root)) {}

  // Up to `size_max` bytes; empty optional if it cannot be opened or its first bytes not be read.
  std::optional<std::string> read(const std::string& path, size_t size_max = kSizeMax) const;
  // The first line, without the spaces at its ends.
  std::optional<std::string> read_line(const std::string& path) const;
  // Like the kernel's log: one record a read() until it would wait.
  std::optional<std::string> read_records(const std::string& path, size_t size_max) const;

  // Why read() of it gives nothing, in words: "there is none", "permission denied".
  std::string why_unread(const std::string& path) const;

  // What a symbolic link says, as it stands there; nothing if it is none.
  std::optional<std::string> link(const std::string& path) const;
  bool exists(const std::string& path) const;
  std::vector<std::string> list(const std::string& path) const;  // names, sorted; empty if none

  bool is_live() const { return root_ == "/"; }
  std::filesystem::path absolute(const std::string& path) const { return root_ / path; }

  static constexpr size_t kSizeMax = size_t{16} << 20;

 private:
  std::filesystem::path root_;
};

}  // namespace evener::host
