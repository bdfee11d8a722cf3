#include "cache/entry_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace evener::cache {
namespace {

constexpr const char* kLockName = "evener.lock";

// Smaller entries are left to the system: waiting for the disk takes longer than writing them.
constexpr size_t kWaitForDiskBytes = size_t{1} << 20;

Code code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
      return Code::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::permission_denied;
    case ENOTDIR:  // something else stands where a folder or an entry should
    case EISDIR:
    case ELOOP:
    case ENXIO:
    case EINVAL:
      return Code::invalid_argument;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Code::out_of_memory;
    default:
      return Code::unavailable;
  }
}

Error system_error(std::string doing, const std::filesystem::path& path, int error_number) {
  return {.code = code_of(error_number),
          .doing = std::move(doing),
          .where = path.string(),
          .why = std::strerror(error_number),
          .remedy = {}};
}

// Closes a file at the end of a scope.
class OpenFile {
 public:
  explicit OpenFile(int number) : number_(number) {}
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  int close() { return ::close(std::exchange(number_, -1)); }

 private:
  int number_;
};

// Something called like an entry may be a pipe, which would never end.
int open_to_read(int folder, const std::string& name) {
  return ::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

// What is there of `bytes`, from `offset` on. Negative: errno says why.
ssize_t read_at(int file, std::span<std::byte> bytes, uint64_t offset) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        ::pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return got;
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

// Finer than the system's own stamps, which stand still for milliseconds.
std::array<timespec, 2> stamp() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
  const timespec time = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  return {time, time};
}

int64_t nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Result<std::unique_ptr<EntryFolder>> EntryFolder::open(const std::filesystem::path& path) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) return system_error("open cache folder", path, error.value());
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_error("make cache folder", path, errno);
  }
  auto folder = std::unique_ptr<EntryFolder>(new EntryFolder(path));
  folder->folder_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder->folder_ < 0) return system_error("open cache folder", path, errno);
  RETURN_IF_ERROR(folder->lock());
  return folder;
}

Status EntryFolder::lock() {
  lock_ = ::openat(folder_, kLockName, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_ < 0) return system_error("write to cache folder", path_, errno);
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return {};
  if (errno != EWOULDBLOCK) return system_error("lock cache folder", path_, errno);
  return Error{.code = Code::unavailable,
               .doing = "use cache folder",
               .where = path_.string(),
               .why = "another process uses it",
               .remedy = "give each process a folder of its own"};
}

EntryFolder::~EntryFolder() {
  if (lock_ >= 0) ::close(lock_);  // which frees it
  if (folder_ >= 0) ::close(folder_);
}

Result<std::vector<std::string>> EntryFolder::names() const {
  const int again = ::openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listing = again < 0 ? nullptr : ::fdopendir(again);
  if (listing == nullptr) {
    const int saved = errno;
    if (again >= 0) ::close(again);
    return system_error("list cache folder", path_, saved);
  }
  std::vector<std::string> names;
  while (const dirent* const entry = ::readdir(listing)) {
    if (names.size() > kFilesMax) break;
    names.emplace_back(entry->d_name);
  }
  ::closedir(listing);
  if (names.size() <= kFilesMax) return names;
  return Error{.code = Code::limit_exceeded,
               .doing = "list cache folder",
               .where = path_.string(),
               .why = fmt::format("has more than {} files", kFilesMax),
               .remedy = "give Evener a folder of its own"};
}

Result<EntryFolder::Contents> EntryFolder::scan(const ModelId& model,
                                                const std::function<void(double)>& progress) {
  ASSIGN_OR_RETURN(const std::vector<std::string> all, names());
  Contents contents;
  constexpr size_t kFilesPerReport = 256;
  for (size_t i = 0; i < all.size(); ++i) {
    if (progress && i % kFilesPerReport == 0) progress(double(i) / double(all.size()));
    look_at(all[i], model, contents);
  }
  std::ranges::sort(contents.files, {},
                    [](const File& file) { return std::pair(file.used_ns, file.id); });
  return contents;
}

void EntryFolder::look_at(const std::string& name, const ModelId& model, Contents& contents) const {
  if (id_of_unfinished_file(name)) {
    if (::unlinkat(folder_, name.c_str(), 0) == 0) ++contents.num_unfinished;
    return;
  }
  const auto id = id_of_entry_file(name);
  if (!id) return;
  const auto file = read_header(*id, model);
  if (file) {
    contents.files.push_back(*file);
  } else if (file.error().code == Code::corrupt) {
    ++contents.num_damaged;
    contents.damage_example = to_string(file.error());
    remove(*id);
  } else {
    ++contents.num_strange;
  }
}

// An entry of another version or model counts as foreign, whatever it is called.
Result<EntryFolder::File> EntryFolder::read_header(const EntryId& id, const ModelId& model) const {
  const std::string name = entry_file_name(id);
  const OpenFile file(open_to_read(folder_, name));
  struct stat info{};
  if (!file.is_open() || ::fstat(file.number(), &info) != 0) {
    return system_error("read cache entry", path_ / name, errno);
  }
  if (!S_ISREG(info.st_mode)) return system_error("read cache entry", path_ / name, EINVAL);
  std::array<std::byte, kEntryHeaderBytes> bytes{};
  const ssize_t got = read_at(file.number(), bytes, 0);
  if (got < 0) return system_error("read cache entry", path_ / name, errno);
  const auto file_bytes = static_cast<uint64_t>(info.st_size);
  const auto header =
      parse_entry_header(std::span(bytes).first(size_t(got)), file_bytes, (path_ / name).string());
  if (!header && header.error().code != Code::unsupported) return header.error();
  const bool foreign = !header || header->model != model;
  if (!foreign && entry_id(model, header->key) != id) {
    return Error{.code = Code::corrupt,
                 .doing = "read cache entry",
                 .where = (path_ / name).string(),
                 .why = "holds another entry than its name says",
                 .remedy = {}};
  }
  return File{
      .id = id, .file_bytes = file_bytes, .used_ns = nanoseconds(info.st_mtim), .foreign = foreign};
}

Result<EntryBytes> EntryFolder::read(const ModelId& model, const EntryKey& key,
                                     uint64_t payload_bytes) const {
  const std::string name = entry_file_name(entry_id(model, key));
  const std::string where = (path_ / name).string();
  const OpenFile file(open_to_read(folder_, name));
  struct stat info{};
  if (!file.is_open() || ::fstat(file.number(), &info) != 0) {
    return system_error("read cache entry", where, errno);
  }
  std::array<std::byte, kEntryHeaderBytes> bytes{};
  const ssize_t got = read_at(file.number(), bytes, 0);
  if (got < 0) return system_error("read cache entry", where, errno);
  ASSIGN_OR_RETURN(const EntryHeader header,
                   parse_entry_header(std::span(bytes).first(size_t(got)),
                                      static_cast<uint64_t>(info.st_size), where));
  if (header.model != model || header.key != key || header.payload_bytes != payload_bytes) {
    return Error{.code = Code::corrupt,
                 .doing = "read cache entry",
                 .where = where,
                 .why = "holds another entry than its name says",
                 .remedy = {}};
  }
  EntryBytes payload = EntryBytes::allocate(header.payload_bytes);
  if (!payload) return system_error("read cache entry", where, ENOMEM);
  const ssize_t read = read_at(file.number(), payload.span(), kEntryHeaderBytes);
  if (read < 0) return system_error("read cache entry", where, errno);
  RETURN_IF_ERROR(check_payload(header, payload.span().first(size_t(read)), where));
  return payload;
}

Status EntryFolder::write(const ModelId& model, const EntryKey& key,
                          std::span<const std::byte> payload) const {
  const EntryId id = entry_id(model, key);
  const std::string name = entry_file_name(id);
  const std::string unfinished = unfinished_file_name(id);
  const auto header = encode({.model = model,
                              .key = key,
                              .payload_bytes = payload.size(),
                              .payload_checksum = payload_checksum(payload)});
  OpenFile file(::openat(folder_, unfinished.c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return system_error("write cache entry", path_ / name, errno);
  const auto times = stamp();
  const bool waits = payload.size() >= kWaitForDiskBytes;
  // Some file systems tell only in close() that there was no room.
  if (write_all(file.number(), header) && write_all(file.number(), payload) &&
      ::futimens(file.number(), times.data()) == 0 && (!waits || ::fdatasync(file.number()) == 0) &&
      file.close() == 0 && ::renameat(folder_, unfinished.c_str(), folder_, name.c_str()) == 0) {
    return {};
  }
  const int saved = errno;
  ::unlinkat(folder_, unfinished.c_str(), 0);
  return system_error("write cache entry", path_ / name, saved);
}

void EntryFolder::touch(const EntryId& id) const {
  const auto times = stamp();
  ::utimensat(folder_, entry_file_name(id).c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
}

void EntryFolder::remove(const EntryId& id) const {
  ::unlinkat(folder_, entry_file_name(id).c_str(), 0);
}

bool EntryFolder::is_gone() const {
  struct stat ours{};
  struct stat there{};
  if (::fstat(folder_, &ours) != 0 || ::stat(path_.c_str(), &there) != 0) return true;
  return ours.st_dev != there.st_dev || ours.st_ino != there.st_ino;
}

}  // namespace evener::cache
