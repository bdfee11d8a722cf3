#include "tokenizer/token_table.h"

#include <algorithm>
#include <bit>

#include "tokenizer/seeded_hash.h"

namespace evener::tokenizer {

TokenTable::TokenTable(std::span<const std::string> spellings)
    : spellings_(spellings), slots_(std::bit_ceil(2 * spellings.size() + 1)) {
  mask_ = slots_.size() - 1;
  for (size_t id = 0; id < spellings.size(); ++id) {
    longest_bytes_ = std::max(longest_bytes_, spellings[id].size());
    if (!spellings[id].empty()) insert(TokenId(id));
  }
}

void TokenTable::insert(TokenId id) {
  const std::string& spelling = spellings_[size_t(id)];
  const uint64_t hash = hash_bytes(spelling);
  const auto tag = uint32_t(hash >> 32);
  size_t index = hash & mask_;
  for (; slots_[index].id >= 0; index = (index + 1) & mask_) {
    const Slot& slot = slots_[index];
    if (slot.tag == tag && spellings_[size_t(slot.id)] == spelling) return;
  }
  slots_[index] = {.tag = tag, .id = id};
}

std::optional<TokenId> TokenTable::find(std::string_view spelling) const {
  if (spelling.empty() || spelling.size() > longest_bytes_) return {};
  const uint64_t hash = hash_bytes(spelling);
  const auto tag = uint32_t(hash >> 32);
  for (size_t index = hash & mask_; slots_[index].id >= 0; index = (index + 1) & mask_) {
    const Slot& slot = slots_[index];
    if (slot.tag == tag && spellings_[size_t(slot.id)] == spelling) return slot.id;
  }
  return {};
}

}  // namespace evener::tokenizer
