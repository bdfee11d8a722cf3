#include "tokenizer/merge_table.h"

#include <bit>

#include "base/assert.h"
#include "tokenizer/seeded_hash.h"

namespace evener::tokenizer {

MergeTable::MergeTable(size_t num_merges)
    : slots_(std::bit_ceil(2 * num_merges + 1)), mask_(slots_.size() - 1), num_free_(num_merges) {}

size_t MergeTable::slot_of(TokenPair pair) const {
  const uint64_t key = uint64_t(uint32_t(pair.left)) << 32 | uint32_t(pair.right);
  size_t index = hash_number(key) & mask_;
  while (slots_[index].merge.id >= 0 && slots_[index].pair != pair) index = (index + 1) & mask_;
  return index;
}

void MergeTable::insert(TokenPair pair, Merge merge) {
  Slot& slot = slots_[slot_of(pair)];
  if (slot.merge.id >= 0) return;
  EVENER_ASSERT(num_free_ > 0);
  --num_free_;
  slot = {.pair = pair, .merge = merge};
}

std::optional<Merge> MergeTable::find(TokenPair pair) const {
  const Slot& slot = slots_[slot_of(pair)];
  if (slot.merge.id < 0) return {};
  return slot.merge;
}

}  // namespace evener::tokenizer
