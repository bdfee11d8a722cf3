#include "cache/entry_key.h"

#include <xxhash.h>

namespace evener::cache {
namespace {

EntryKey to_key(XXH128_hash_t hash) { return {.high = hash.high64, .low = hash.low64}; }

}  // namespace

EntryKey root_key(uint64_t salt) { return to_key(XXH3_128bits(&salt, sizeof salt)); }

EntryKey page_key(const EntryKey& before, std::span<const TokenId> page_tokens) {
  const XXH128_hash_t tokens = XXH3_128bits(page_tokens.data(), page_tokens.size_bytes());
  const uint64_t chained[] = {before.high, before.low, tokens.high64, tokens.low64};
  return to_key(XXH3_128bits(chained, sizeof chained));
}

}  // namespace evener::cache
