#include "tokenizer/merge_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string_view>

#include "base/assert.h"
#include "tokenizer/seeded_hash.h"

namespace evener::tokenizer {
namespace {

constexpr size_t kMergesMax = size_t{1} << 24;

// Merges "LEFT RIGHT", whose tokens are looked up together.
class MergeGroup {
 public:
  static constexpr size_t kMerges = TokenTable::kGroup / 3;

  struct Found {
    TokenPair pair;
    Merge merge;  // id -1: a token is missing
  };

  explicit MergeGroup(const TokenTable& table) : table_(table) {}

  // `merges` are kMerges or less, the first of them of rank `rank`.
  std::span<const Found> find(std::span<const std::string> merges, size_t rank);

 private:
  const TokenTable& table_;
  std::array<std::string, kMerges> merged_;
  std::array<std::string_view, 3 * kMerges> spellings_;  // left, right, merged
  std::array<TokenId, 3 * kMerges> ids_{};
  std::array<Found, kMerges> found_;
};

std::span<const MergeGroup::Found> MergeGroup::find(std::span<const std::string> merges,
                                                    size_t rank) {
  for (size_t i = 0; i < merges.size(); ++i) {
    const std::string_view merge = merges[i];
    const size_t space = std::min(merge.find(' ', 1), merge.size());  // the left may be a space
    const std::string_view left = merge.substr(0, space);
    const std::string_view right = merge.substr(std::min(space + 1, merge.size()));
    merged_[i].assign(left).append(right);
    spellings_[3 * i] = left;
    spellings_[3 * i + 1] = right;
    spellings_[3 * i + 2] = merged_[i];
  }
  const size_t count = 3 * merges.size();
  table_.find_group(std::span(spellings_).first(count), std::span(ids_).first(count));
  for (size_t i = 0; i < merges.size(); ++i) {
    const TokenPair pair{.left = ids_[3 * i], .right = ids_[3 * i + 1]};
    const bool is_whole = pair.left >= 0 && pair.right >= 0;
    found_[i] = {.pair = pair,
                 .merge = {.rank = int32_t(rank + i), .id = is_whole ? ids_[3 * i + 2] : -1}};
  }
  return std::span(found_).first(merges.size());
}

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
  MergeGroup group(table);
  const std::span all(merges);
  for (size_t begin = 0; begin < all.size(); begin += MergeGroup::kMerges) {
    const size_t count = std::min(MergeGroup::kMerges, all.size() - begin);
    const auto found = group.find(all.subspan(begin, count), begin);
    for (const auto& row : found) result.prepare(row.pair);
    for (const auto& row : found) {
      if (row.merge.id >= 0) result.insert(row.pair, row.merge);
    }
  }
  return result;
}

MergeTable::MergeTable(size_t num_merges)
    : slots_(std::bit_ceil(2 * num_merges + 1)), mask_(slots_.size() - 1), num_free_(num_merges) {}

size_t MergeTable::first_slot(TokenPair pair) const {
  return hash_number(uint64_t(uint32_t(pair.left)) << 32 | uint32_t(pair.right)) & mask_;
}

size_t MergeTable::slot_of(TokenPair pair) const {
  size_t index = first_slot(pair);
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
