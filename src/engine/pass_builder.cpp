#include "engine/pass_builder.h"

#include "base/assert.h"

namespace evener::engine {

RankPass PassBuilder::build(std::span<const sched::Slice> step, const cache::Residency& residency,
                            TokensOf tokens_of) {
  clear();
  for (const sched::Slice& slice : step) {
    const size_t first_row = tokens_.size();
    slices_.push_back({.first_row = first_row,
                       .num_rows = slice.num_tokens,
                       .first_position = slice.first_position,
                       .pages = residency.pages(slice.sequence),
                       .state_slot = residency.state_slot(slice.sequence)});
    add_rows(slice, tokens_of(slice.sequence));
    add_logit_rows(slice, first_row);
  }
  return {.input = {.tokens = tokens_,
                    .positions = positions_,
                    .batch = {.slices = slices_, .num_rows = tokens_.size()},
                    .logit_rows = logit_rows_}};
}

void PassBuilder::clear() {
  tokens_.clear();
  positions_.clear();
  logit_rows_.clear();
  slices_.clear();
  logit_ranges_.clear();
}

void PassBuilder::add_rows(const sched::Slice& slice, std::span<const tokenizer::TokenId> tokens) {
  EVENER_ASSERT(slice.first_position + slice.num_tokens <= tokens.size());
  for (size_t i = 0; i < slice.num_tokens; ++i) {
    const size_t position = slice.first_position + i;
    tokens_.push_back(tokens[position]);
    positions_.push_back(static_cast<int32_t>(position));
  }
}

void PassBuilder::add_logit_rows(const sched::Slice& slice, size_t first_row) {
  const size_t row_end = first_row + slice.num_tokens;
  size_t row = row_end;
  if (slice.logits == sched::Slice::Logits::last) row = row_end - 1;
  if (slice.logits == sched::Slice::Logits::all) row = first_row;
  logit_ranges_.push_back({.first_row = logit_rows_.size(), .num_rows = row_end - row});
  for (; row < row_end; ++row) logit_rows_.push_back(static_cast<int32_t>(row));
}

}  // namespace evener::engine
