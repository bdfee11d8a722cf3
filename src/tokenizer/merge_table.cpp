#include "tokenizer/merge_table.h"

#include <fmt/format.h>

#include <bit>
#include <string_view>

#include "base/assert.h"
#include "tokenizer/seeded_hash.h"

namespace evener::tokenizer {
namespace {

constexpr size_t kMergesMax = size_t{1} << 24;

}  // namespace

Result<MergeTable> MergeTable::of(const std::vector<std::string>& merges, const TokenTable& table) {
  if (merges.size() > kMergesMax) {
    return Error{.code = Code::limit_exceeded,
                 .doing = "make a tokenizer",
                 .where = "merges",
                 .why = fmt::format("{} of them, at most {} are read", merges.size(), kMergesMax),
                 .remedy = {}};
  }
  MergeTable result(merges.size());
  std::string spelling;
  int32_t rank = -1;
  for (const std::string_view merge : merges) {
    ++rank;
    const size_t space = merge.find(' ', 1);  // not at 0: the left token may be a space
    if (space == std::string_view::npos) continue;
    const auto left = table.find(merge.substr(0, space));
    const auto right = table.find(merge.substr(space + 1));
    if (!left || !right) continue;
    spelling = merge;
    spelling.erase(space, 1);
    const auto merged = table.find(spelling);
    if (!merged) continue;
    result.insert({.left = *left, .right = *right}, {.rank = rank, .id = *merged});
  }
  return result;
}

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
