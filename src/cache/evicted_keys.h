#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/entry_key.h"

namespace evener::cache {

// Remembers roughly which keys made room for others lately, so that a match that ends there can say
// so. A table of fixed size in which a later key takes the place of an earlier one: it forgets, and
// errs the other way only where two keys share 64 bits of hash. One thread.
class EvictedKeys {
 public:
  explicit EvictedKeys(size_t num_keys) : hashes_(std::bit_ceil(num_keys + 1)) {}

  void remember(const EntryKey& key) { hashes_[place(key)] = key.low; }
  bool contains(const EntryKey& key) const { return hashes_[place(key)] == key.low; }
  void clear() { hashes_.assign(hashes_.size(), 0); }

 private:
  size_t place(const EntryKey& key) const {
    return static_cast<size_t>(key.high) & (hashes_.size() - 1);
  }

  std::vector<uint64_t> hashes_;  // 0: none
};

}  // namespace evener::cache
