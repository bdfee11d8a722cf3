#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/function_ref.h"
#include "cache/disk_tier.h"
#include "cache/entry_bytes.h"
#include "cache/entry_key.h"
#include "cache/recent_map.h"
#include "cache/stored_entries.h"

namespace evener::cache {

struct TierOptions {
  uint64_t memory_bytes_max = 0;  // of the tier in RAM, bookkeeping included; 0: none
  DiskTierOptions disk;           // an empty folder: none
};

struct TierStats {
  size_t num_in_memory = 0;
  uint64_t memory_bytes = 0;
  uint64_t num_memory_hits = 0;
  uint64_t num_disk_hits = 0;
  uint64_t num_misses = 0;
  bool has_disk = false;
  DiskTierStats disk;
};

// Entries that outlive the pools of the device: a tier in RAM above one on disk, each with a budget
// in bytes that holds at every moment, each giving up what was used least recently. What is put
// goes to both, so that a process that is killed loses nothing that was written, and memory is
// given up without a write. What is read from disk comes to memory.
//
// Memory in use is at most memory_bytes_max, what waits for the disk (disk.queue_bytes_max), and
// what callers hold. One thread.
class Tiers final : public StoredEntries {
 public:
  // A folder that cannot be used costs a warning, and there is no tier on disk. `progress`, which
  // may be empty, gets the fraction of the folder that is looked at.
  static std::unique_ptr<Tiers> create(const TierOptions& options,
                                       const std::function<void(double)>& progress);

  bool contains(const EntryKey& key) const override;
  bool wants(const EntryKey& key) const override;

  // Keeps `size_bytes` bytes that `fill` writes, if any tier takes them; else `fill` is not called.
  // Where it returns false nothing is kept.
  void put(const EntryKey& key, size_t size_bytes, FunctionRef<bool(std::span<std::byte>)> fill,
           WhenBusy when_busy = WhenBusy::drop);

  // None if it is not there or, on disk, no longer as it was; contains() is false then.
  EntryBytes get(const EntryKey& key, size_t size_bytes);

  void erase(const EntryKey& key);

  // Forgets all and keeps nothing from here on: what is there was computed by others than those who
  // would read it. Files stay for the next process.
  void retire();

  // Waits until the disk has what memory has, as far as its budget goes: before the end.
  void finish();

  TierStats stats() const;

 private:
  explicit Tiers(const TierOptions& options) : memory_bytes_max_(options.memory_bytes_max) {}
  bool fits_memory(uint64_t size_bytes) const;
  void keep(const EntryKey& key, EntryBytes bytes);

  uint64_t memory_bytes_max_;
  RecentMap<EntryKey, EntryBytes> memory_;
  std::unique_ptr<DiskTier> disk_;  // null: none
  TierStats counts_;
};

}  // namespace evener::cache
