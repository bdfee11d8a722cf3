#include "host/snapshot_folder.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "base/text.h"
#include "host/file_tree.h"
#include "host/snapshot_files.h"

namespace evener::host {
namespace {

namespace fs = std::filesystem;

constexpr int kDepthMax = 2;  // p2p-snapshot/tools/x.txt in a folder that holds it

Error bad_folder(const fs::path& path, Code code, std::string why, std::string remedy) {
  return {.code = code,
          .doing = "read snapshot",
          .where = path.string(),
          .why = std::move(why),
          .remedy = std::move(remedy)};
}

Error of_system(const fs::path& path, const std::error_code& error) {
  Code code = Code::unavailable;
  if (error == std::errc::no_such_file_or_directory) code = Code::not_found;
  if (error == std::errc::permission_denied) code = Code::permission_denied;
  return bad_folder(path, code, error.message(), {});
}

class FolderReader {
 public:
  explicit FolderReader(const fs::path& folder) : folder_(folder), tree_(folder) {
    snapshot_.origin = folder.string();
  }

  Result<Snapshot> read() {
    std::error_code error;
    fs::recursive_directory_iterator entry(folder_, error);
    for (size_t num_seen = 0; !error && entry != fs::recursive_directory_iterator(); ++num_seen) {
      if (num_seen > 2 * kSnapshotFilesMax)
        return bad_folder(folder_, Code::limit_exceeded, "holds too many files for a snapshot",
                          "give the folder of the snapshot itself");
      RETURN_IF_ERROR(take(*entry));
      if (entry.depth() >= kDepthMax) entry.disable_recursion_pending();
      entry.increment(error);
    }
    if (error) return of_system(folder_, error);
    strip_top_folder(snapshot_);
    RETURN_IF_ERROR(check_is_snapshot(snapshot_));
    return std::move(snapshot_);
  }

 private:
  Status take(const fs::directory_entry& entry) {
    std::error_code error;
    const fs::file_status status = entry.symlink_status(error);
    if (error) return of_system(entry.path(), error);
    if (status.type() == fs::file_type::directory) return {};
    if (status.type() != fs::file_type::regular)
      return bad_folder(entry.path(), Code::corrupt,
                        "is not a plain file; a snapshot holds no links, pipes or devices",
                        "take it out, or give another folder");
    const fs::path relative = entry.path().lexically_relative(folder_);
    ASSIGN_OR_RETURN(std::string name, checked_name(relative.generic_string(), folder_.string()));
    auto bytes = tree_.read(relative.string(), kSnapshotFileBytesMax + 1);
    if (!bytes)
      return bad_folder(entry.path(), Code::permission_denied, tree_.why_unread(relative.string()),
                        "make it readable for this user");
    return add_file(snapshot_, std::move(name), *std::move(bytes));
  }

  const fs::path& folder_;
  FileTree tree_;
  Snapshot snapshot_;
};

}  // namespace

Result<Snapshot> read_snapshot_folder(const fs::path& folder) {
  return FolderReader(folder).read();
}

}  // namespace evener::host
