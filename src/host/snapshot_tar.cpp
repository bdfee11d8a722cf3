#include "host/snapshot_tar.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "host/archive.h"
#include "host/snapshot_files.h"

namespace evener::host {
namespace {

constexpr std::string_view kFolder = "p2p-snapshot/";
constexpr time_t kMemberTime = 315532800;  // 1 January 1980: the same snapshot, the same bytes

Error bad_archive(const std::string& where, std::string why) {
  return {.code = Code::corrupt,
          .doing = "read snapshot",
          .where = where,
          .why = std::move(why),
          .remedy = "is the file complete? ask for it again"};
}

std::string words_of(archive* handle) {
  const char* words = archive_error_string(handle);
  return words == nullptr ? "is damaged" : printable(words);
}

// A member's name as the archive has it; empty if it has none that can be shown.
std::string name_of(archive_entry* entry) {
  const char* name = archive_entry_pathname_utf8(entry);
  if (name == nullptr) name = archive_entry_pathname(entry);
  return name == nullptr ? std::string() : std::string(name);
}

const char* what_it_is(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) return "a hard link";
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return nullptr;
    case AE_IFDIR:
      return nullptr;
    case AE_IFLNK:
      return "a symbolic link";
    case AE_IFIFO:
      return "a pipe";
    case AE_IFCHR:
      return "a device";
    case AE_IFBLK:
      return "a device";
    default:
      return "neither a file nor a folder";
  }
}

class TarReader {
 public:
  explicit TarReader(std::string origin) : archive_(archive_read_new()) {
    snapshot_.origin = std::move(origin);
    archive_read_support_filter_gzip(archive_.get());
    archive_read_support_format_tar(archive_.get());
  }

  Result<Snapshot> read(std::string_view bytes) {
    if (archive_read_open_memory(archive_.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
      return bad_archive(snapshot_.origin, words_of(archive_.get()));
    RETURN_IF_ERROR(read_members());
    strip_top_folder(snapshot_);
    RETURN_IF_ERROR(check_is_snapshot(snapshot_));
    return std::move(snapshot_);
  }

 private:
  Status read_members() {
    for (size_t num_members = 0;; ++num_members) {
      archive_entry* entry = nullptr;
      const int status = archive_read_next_header(archive_.get(), &entry);
      if (status == ARCHIVE_EOF) return {};
      if (status < ARCHIVE_WARN) return bad_archive(snapshot_.origin, words_of(archive_.get()));
      RETURN_IF_ERROR(check_volume(num_members));
      RETURN_IF_ERROR(read_member(entry));
    }
  }

  // An archive within an archive, members without end, or zeros without end.
  Status check_volume(size_t num_members) const {
    std::string why;
    if (archive_filter_count(archive_.get()) > 2) why = "is packed more than once";
    if (num_members >= 2 * kSnapshotFilesMax) why = "has too many members";
    if (archive_filter_bytes(archive_.get(), 0) > static_cast<la_int64_t>(2 * kSnapshotBytesMax))
      why = fmt::format("is larger than {} MiB when unpacked", 2 * kSnapshotBytesMax >> 20);
    if (why.empty()) return {};
    return Error{.code = Code::limit_exceeded,
                 .doing = "read snapshot",
                 .where = snapshot_.origin,
                 .why = std::move(why),
                 .remedy = "is this a snapshot? one of a large machine takes a few MiB"};
  }

  Status read_member(archive_entry* entry) {
    const std::string raw_name = name_of(entry);
    if (archive_entry_filetype(entry) == AE_IFDIR && (raw_name == "./" || raw_name == "."))
      return {};
    ASSIGN_OR_RETURN(std::string name, checked_name(raw_name, snapshot_.origin));
    const std::string where = fmt::format("{}, member '{}'", snapshot_.origin, printable(name));
    if (const char* what = what_it_is(entry)) return refused(where, what);
    if (archive_entry_filetype(entry) == AE_IFDIR) return {};
    if (name.substr(name.rfind('/') + 1).starts_with("._")) return {};  // what macOS adds
    if (archive_entry_size(entry) > static_cast<la_int64_t>(kSnapshotFileBytesMax))
      return too_large(where);
    std::string bytes;
    switch (read_data(archive_.get(), kSnapshotFileBytesMax, bytes)) {
      case DataEnd::damaged:
        return bad_archive(where, words_of(archive_.get()));
      case DataEnd::too_large:
        return too_large(where);
      case DataEnd::complete:
        break;
    }
    return add_file(snapshot_, std::move(name), std::move(bytes));
  }

  static Error refused(const std::string& where, std::string_view what) {
    return {.code = Code::corrupt,
            .doing = "read snapshot",
            .where = where,
            .why = fmt::format("is {}; a snapshot holds plain files only", what),
            .remedy = "unpack it by hand if you trust who sent it, and give the folder"};
  }

  static Error too_large(const std::string& where) {
    return {.code = Code::limit_exceeded,
            .doing = "read snapshot",
            .where = where,
            .why = fmt::format("is larger than {} MiB", kSnapshotFileBytesMax >> 20),
            .remedy = "is this a snapshot? one of a large machine takes a few MiB"};
  }

  ReadArchive archive_;
  Snapshot snapshot_;
};

la_ssize_t append(archive* /*handle*/, void* out, const void* bytes, size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

bool write_member(archive* handle, const std::string& name, const std::string& text) {
  const Entry entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), (std::string(kFolder) + name).c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), kMemberTime, 0);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(text.size()));
  if (archive_write_header(handle, entry.get()) != ARCHIVE_OK) return false;
  return archive_write_data(handle, text.data(), text.size()) ==
         static_cast<la_ssize_t>(text.size());
}

}  // namespace

Result<Snapshot> read_snapshot_tar(std::string_view bytes, std::string origin) {
  return TarReader(std::move(origin)).read(bytes);
}

Result<std::string> snapshot_tar(const Snapshot& snapshot) {
  std::string bytes;
  const WriteArchive archive(archive_write_new());
  archive_write_set_format_pax_restricted(archive.get());  // ustar, wherever a name fits
  archive_write_add_filter_gzip(archive.get());
  archive_write_set_options(archive.get(), "gzip:!timestamp");
  archive_write_set_bytes_in_last_block(archive.get(), 1);
  bool good = archive_write_open(archive.get(), &bytes, nullptr, append, nullptr) == ARCHIVE_OK;
  for (const auto& [name, text] : snapshot.files)
    good = good && write_member(archive.get(), name, text);
  good = good && archive_write_close(archive.get()) == ARCHIVE_OK;
  if (good) return bytes;
  return Error{.code = Code::out_of_memory,
               .doing = "pack snapshot",
               .where = snapshot.origin,
               .why = words_of(archive.get()),
               .remedy = {}};
}

}  // namespace evener::host
