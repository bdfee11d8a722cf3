#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "cache/entry_bytes.h"
#include "cache/entry_folder.h"
#include "cache/entry_writer.h"
#include "cache/recent_map.h"

namespace evener::cache {

struct DiskTierOptions {
  std::filesystem::path folder;
  uint64_t bytes_max = 0;                      // that all entries in the folder take together
  size_t queue_bytes_max = size_t{256} << 20;  // in memory, waiting to be written
  std::string identity;                        // see model_id()
};

// What to do with an entry when as many bytes wait to be written as may.
enum class WhenBusy { drop, wait };

struct DiskTierStats {
  size_t num_entries = 0;  // of this model
  size_t num_foreign = 0;  // of other models or versions
  uint64_t bytes = 0;      // of both, in whole blocks of the file system
  uint64_t num_written = 0;
  uint64_t num_dropped = 0;  // because too many waited
  uint64_t num_evicted = 0;
  uint64_t num_failed_reads = 0;  // damaged, vanished or unreadable
  bool writes = true;             // false once writing has failed
};

// Entries in a folder, across restarts. Writing happens on a thread of its own, reading on the
// caller's; an entry that waits to be written is there already. What was used least recently goes
// when the budget is full, whichever model it belongs to.
//
// Nothing that happens to the disk is an error here, since all can be computed again: an entry that
// cannot be read is gone. The first failure of each kind is logged. After a failed write (a full
// disk) entries are only read; after a failure to read at all, or if the folder has vanished, there
// are none. One thread.
class DiskTier {
 public:
  // Errors: those of EntryFolder::open and scan; unavailable (no thread). What was found in the
  // folder is logged, a line each kind.
  static Result<std::unique_ptr<DiskTier>> open(const DiskTierOptions& options,
                                                const std::function<void(double)>& progress);

  bool contains(const EntryKey& key) const;

  // Whether put() would take one of that size, or for 0 bytes of any.
  bool wants(const EntryKey& key, uint64_t payload_bytes = 0) const;

  // Does nothing if it is there already, or if this tier does not want it.
  void put(const EntryKey& key, const EntryBytes& bytes, WhenBusy when_busy);

  // None if it is not there, or not as it was written and of that size; then it is removed.
  EntryBytes get(const EntryKey& key, uint64_t payload_bytes);

  // Counts as a use of what is there.
  void touch(const EntryKey& key);

  void erase(const EntryKey& key);

  // Waits until all that was put is written.
  void finish();

  DiskTierStats stats() const;

 private:
  struct File {
    EntryBytes waiting;  // to be written; none: it is on disk
    uint64_t write_number = 0;
    bool foreign = false;
  };

  DiskTier(const DiskTierOptions& options, std::unique_ptr<EntryFolder> folder);
  Status start(const DiskTierOptions& options, const std::function<void(double)>& progress);
  void report(const EntryFolder::Contents& contents) const;
  void take_written();
  void make_room(uint64_t size_bytes);
  void forget(const EntryId& id, const Error& error);
  void give_up(const Error& error);

  ModelId model_;
  uint64_t bytes_max_;
  std::unique_ptr<EntryFolder> folder_;
  std::unique_ptr<EntryWriter> writer_;  // ends before the folder closes
  RecentMap<EntryId, File> files_;
  size_t num_foreign_ = 0;
  DiskTierStats counts_;
};

}  // namespace evener::cache
