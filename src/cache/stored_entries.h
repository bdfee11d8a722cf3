#pragma once

#include "cache/entry_key.h"

namespace evener::cache {

// What the tiers below the device (RAM, disk) hold, as far as Residency needs to know. It is asked
// again each time, so entries may come and go between two calls. Asked from Residency's thread.
class StoredEntries {
 public:
  StoredEntries() = default;
  StoredEntries(const StoredEntries&) = delete;
  StoredEntries& operator=(const StoredEntries&) = delete;
  virtual ~StoredEntries() = default;

  // Whether a load of `key` would find its bytes.
  virtual bool contains(const EntryKey& key) const = 0;

  // Whether the bytes of `key` would be taken if they were offered: there is a tier with room for
  // them, and it does not hold them yet.
  virtual bool wants(const EntryKey& key) const = 0;
};

}  // namespace evener::cache
