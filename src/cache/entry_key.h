#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "cache/ids.h"

namespace evener::cache {

// The name of what one page holds, or of the recurrent state at that page's end, by what was read
// to get there: a 128-bit hash chained over the pages,
//     hash[k] = XXH3_128(hash[k-1], XXH3_128(tokens of page k)),    hash[-1] = XXH3_128(salt)
// so that it stands for the salt and for every token up to the page's end. It does not name the
// model, the type of the cache or the page size: a store that outlives the process adds these.
//
// The hash finds honest collisions improbable; it is not one that withstands an attacker, so the
// tree on the device compares tokens, and those who must not share have different salts.
struct EntryKey {
  enum class Kind : uint8_t { page, state };

  uint64_t high = 0;
  uint64_t low = 0;
  Kind kind = Kind::page;

  auto operator<=>(const EntryKey&) const = default;
};

// The key above the first page.
EntryKey root_key(uint64_t salt);

// The key of a page whose predecessor has the key `before` (of a page or the root), of kind page.
EntryKey page_key(const EntryKey& before, std::span<const TokenId> page_tokens);

// The key of the recurrent state at the end of the page with the key `page`.
inline EntryKey state_key(EntryKey page) {
  page.kind = EntryKey::Kind::state;
  return page;
}

}  // namespace evener::cache

template <>
struct std::hash<evener::cache::EntryKey> {
  size_t operator()(const evener::cache::EntryKey& key) const noexcept {
    return static_cast<size_t>(key.low) ^ static_cast<size_t>(key.kind);
  }
};
