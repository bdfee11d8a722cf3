#include "host/file_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace evener::host {
namespace {

// A descriptor that closes itself. O_NONBLOCK: a pipe that somebody put there must not hold us.
class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

ssize_t read_once(const Descriptor& file, char* buffer, size_t size) {
  ssize_t count = 0;
  do {
    count = ::read(file.number(), buffer, size);
  } while (count < 0 && errno == EINTR);
  return count;
}

std::string words_for(int error_number) {
  if (error_number == ENOENT || error_number == ENOTDIR) return "there is none";
  if (error_number == EACCES || error_number == EPERM) return "permission denied";
  return std::strerror(error_number);
}

}  // namespace

std::optional<std::string> FileTree::read(const std::string& path, size_t size_max) const {
  const Descriptor file(root_ / path);
  if (!file.is_open()) return std::nullopt;
  std::string bytes;
  std::array<char, 16384> buffer{};
  while (bytes.size() < size_max) {
    const size_t room = std::min(buffer.size(), size_max - bytes.size());
    const ssize_t count = read_once(file, buffer.data(), room);
    if (count < 0 && bytes.empty()) return std::nullopt;
    if (count <= 0) break;
    bytes.append(buffer.data(), static_cast<size_t>(count));
  }
  return bytes;
}

std::optional<std::string> FileTree::read_line(const std::string& path) const {
  std::optional<std::string> text = read(path, 4096);
  if (!text) return std::nullopt;
  text->resize(std::min(text->find('\n'), text->size()));
  text->resize(text->find_last_not_of(" \t\r") + 1);
  text->erase(0, std::min(text->find_first_not_of(" \t"), text->size()));
  return text;
}

std::optional<std::string> FileTree::read_records(const std::string& path, size_t size_max) const {
  const Descriptor file(root_ / path);
  if (!file.is_open()) return std::nullopt;
  std::string bytes;
  std::array<char, 8192> buffer{};
  for (size_t num_lost = 0; bytes.size() < size_max && num_lost < 100;) {
    const ssize_t count = read_once(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EPIPE) {  // the record was overwritten: the next one follows
      ++num_lost;
      continue;
    }
    if (count < 0 && errno != EAGAIN && bytes.empty()) return std::nullopt;
    if (count <= 0) break;
    bytes.append(buffer.data(), static_cast<size_t>(count));
  }
  return bytes;
}

std::string FileTree::why_unread(const std::string& path) const {
  const Descriptor file(root_ / path);
  if (!file.is_open()) return words_for(errno);
  char byte = 0;
  return read_once(file, &byte, 1) < 0 ? words_for(errno) : "it is empty";
}

std::optional<std::string> FileTree::link(const std::string& path) const {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::read_symlink(root_ / path, error);
  if (error) return std::nullopt;
  return target.string();
}

bool FileTree::exists(const std::string& path) const {
  std::error_code ignored;
  return std::filesystem::exists(root_ / path, ignored);
}

std::vector<std::string> FileTree::list(const std::string& path) const {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(root_ / path, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace evener::host
