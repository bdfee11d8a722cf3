#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cache/entry_bytes.h"
#include "cache/entry_file.h"

namespace evener::cache {

// A folder of entries on disk, which one process at a time uses: it holds a lock for as long as it
// is open. Made if it is not there, readable by its owner alone, since what is kept follows from
// what people said. Other files in it are left alone.
//
// A file gets its name when it is whole, so that a process that is killed leaves whole entries and
// at most one unfinished file, which the next one removes. After a power cut a file may be damaged
// nevertheless; its checksum shows it. All calls are safe from any thread.
class EntryFolder {
 public:
  // Errors: permission_denied, not_found, invalid_argument (no folder), unavailable (another
  // process uses it).
  static Result<std::unique_ptr<EntryFolder>> open(const std::filesystem::path& path);

  EntryFolder(const EntryFolder&) = delete;
  EntryFolder& operator=(const EntryFolder&) = delete;
  ~EntryFolder();

  const std::filesystem::path& path() const { return path_; }

  struct File {
    EntryId id;
    uint64_t file_bytes = 0;
    int64_t used_ns = 0;   // when it was written or touched, since 1970
    bool foreign = false;  // of another model or version
  };
  struct Contents {
    std::vector<File> files;     // the one used last at the end
    size_t num_unfinished = 0;   // removed
    size_t num_damaged = 0;      // removed
    size_t num_strange = 0;      // called like entries, but none; left alone
    std::string damage_example;  // what was wrong with one of them
  };
  // Looks at the header of each entry. Payloads are checked when they are read. `progress` gets
  // the fraction that is done. Errors: those of the system; limit_exceeded (over kFilesMax files).
  static constexpr size_t kFilesMax = 1'000'000;
  Result<Contents> scan(const ModelId& model, const std::function<void(double)>& progress);

  // Errors: not_found, permission_denied, invalid_argument (no entry at all), unsupported (another
  // version), corrupt (also if its size is not `payload_bytes`), out_of_memory (or files),
  // unavailable: the disk fails.
  Result<EntryBytes> read(const ModelId& model, const EntryKey& key, uint64_t payload_bytes) const;

  // Returns when a large entry is on the disk, so that what waits to be written waits here and not,
  // without bound, in the system. Errors: those of the system; unavailable if the disk is full.
  Status write(const ModelId& model, const EntryKey& key, std::span<const std::byte> payload) const;

  void touch(const EntryId& id) const;   // used at this moment
  void remove(const EntryId& id) const;  // if it is there

  // Whether the folder's path no longer leads to it.
  bool is_gone() const;

 private:
  explicit EntryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  Status lock();
  Result<std::vector<std::string>> names() const;
  void look_at(const std::string& name, const ModelId& model, Contents& contents) const;
  Result<File> read_header(const EntryId& id, const ModelId& model) const;

  std::filesystem::path path_;
  int folder_ = -1;
  int lock_ = -1;
};

}  // namespace evener::cache
