#include "tokenizer/token_table.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/assert.h"
#include "tokenizer/seeded_hash.h"

namespace evener::tokenizer {

TokenTable::TokenTable(std::span<const std::string> spellings)
    : spellings_(spellings), slots_(std::bit_ceil(2 * spellings.size() + 1)) {
  mask_ = slots_.size() - 1;
  std::array<uint64_t, kGroup> hashes{};
  for (size_t begin = 0; begin < spellings.size(); begin += kGroup) {
    const auto group = spellings.subspan(begin, std::min(kGroup, spellings.size() - begin));
    for (size_t i = 0; i < group.size(); ++i) {
      longest_bytes_ = std::max(longest_bytes_, group[i].size());
      hashes[i] = hash_bytes(group[i]);
      __builtin_prefetch(&slots_[hashes[i] & mask_], 1);
    }
    for (size_t i = 0; i < group.size(); ++i) {
      if (!group[i].empty()) insert(TokenId(begin + i), hashes[i]);
    }
  }
}

void TokenTable::insert(TokenId id, uint64_t hash) {
  const std::string& spelling = spellings_[size_t(id)];
  const auto tag = uint32_t(hash >> 32);
  size_t index = hash & mask_;
  for (; slots_[index].id >= 0; index = (index + 1) & mask_) {
    const Slot& slot = slots_[index];
    if (slot.tag == tag && spellings_[size_t(slot.id)] == spelling) return;
  }
  slots_[index] = {.tag = tag, .id = id};
}

TokenId TokenTable::find(std::string_view spelling, uint64_t hash) const {
  const auto tag = uint32_t(hash >> 32);
  for (size_t index = hash & mask_; slots_[index].id >= 0; index = (index + 1) & mask_) {
    const Slot& slot = slots_[index];
    if (slot.tag == tag && spellings_[size_t(slot.id)] == spelling) return slot.id;
  }
  return -1;
}

std::optional<TokenId> TokenTable::find(std::string_view spelling) const {
  if (spelling.empty() || spelling.size() > longest_bytes_) return {};
  const TokenId id = find(spelling, hash_bytes(spelling));
  return id >= 0 ? std::optional(id) : std::nullopt;
}

void TokenTable::find_group(std::span<const std::string_view> spellings,
                            std::span<TokenId> ids) const {
  EVENER_ASSERT(spellings.size() <= kGroup);
  EVENER_ASSERT(spellings.size() == ids.size());
  std::array<uint64_t, kGroup> hashes{};
  for (size_t i = 0; i < spellings.size(); ++i) {
    hashes[i] = hash_bytes(spellings[i]);
    __builtin_prefetch(&slots_[hashes[i] & mask_]);
  }
  // What the first slots name is most often what find() will compare with.
  for (size_t i = 0; i < spellings.size(); ++i) {
    const TokenId id = slots_[hashes[i] & mask_].id;
    if (id >= 0) __builtin_prefetch(&spellings_[size_t(id)]);
  }
  for (size_t i = 0; i < spellings.size(); ++i) {
    ids[i] = spellings[i].empty() ? -1 : find(spellings[i], hashes[i]);
  }
}

}  // namespace evener::tokenizer
