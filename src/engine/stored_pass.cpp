#include "engine/stored_pass.h"

#include <span>

namespace evener::engine {

void StoredPass::store(const RankPass& rank_pass, uint64_t number) {
  const model::PassInput& input = rank_pass.input;
  number_ = number;
  wanted_ = rank_pass.wanted;
  result.logits.clear();
  result.best_tokens.clear();
  tokens_.assign(input.tokens.begin(), input.tokens.end());
  positions_.assign(input.positions.begin(), input.positions.end());
  logit_rows_.assign(input.logit_rows.begin(), input.logit_rows.end());
  slices_.assign(input.batch.slices.begin(), input.batch.slices.end());
  pages_.clear();
  for (const device::Slice& slice : slices_) {
    pages_.insert(pages_.end(), slice.pages.begin(), slice.pages.end());
  }
  size_t begin = 0;
  for (device::Slice& slice : slices_) {
    slice.pages = std::span(pages_).subspan(begin, slice.pages.size());
    begin += slice.pages.size();
  }
}

RankPass StoredPass::pass() const {
  return {.input = {.tokens = tokens_,
                    .positions = positions_,
                    .batch = {.slices = slices_, .num_rows = tokens_.size()},
                    .logit_rows = logit_rows_},
          .wanted = wanted_};
}

}  // namespace evener::engine
