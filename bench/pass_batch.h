#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/rank_pass.h"

namespace evener::bench {

// Rows of one or several sequences that one pass computes; each has pages and a state of its own.
class PassBatch {
 public:
  explicit PassBatch(size_t num_pages) : num_pages_(num_pages) {}

  void add(size_t sequence, size_t first_position, size_t num_rows) {
    slices_.push_back({.first_row = tokens_.size(),
                       .num_rows = num_rows,
                       .first_position = first_position,
                       .pages = {},
                       .state_slot = static_cast<int32_t>(sequence)});
    std::vector<int32_t>& pages = pages_.emplace_back(num_pages_);
    std::iota(pages.begin(), pages.end(), static_cast<int32_t>(sequence * num_pages_));
    for (size_t i = 0; i < num_rows; ++i) {
      tokens_.push_back(static_cast<int32_t>((first_position + i) % 1000));
      positions_.push_back(static_cast<int32_t>(first_position + i));
    }
    logit_rows_.push_back(static_cast<int32_t>(tokens_.size()) - 1);
  }

  // Valid until the next add().
  engine::RankPass pass() {
    for (size_t i = 0; i < slices_.size(); ++i) slices_[i].pages = pages_[i];
    return {.input = {.tokens = tokens_,
                      .positions = positions_,
                      .batch = {.slices = slices_, .num_rows = tokens_.size()},
                      .logit_rows = logit_rows_}};
  }

 private:
  size_t num_pages_;
  std::vector<int32_t> tokens_;
  std::vector<int32_t> positions_;
  std::vector<std::vector<int32_t>> pages_;
  std::vector<int32_t> logit_rows_;
  std::vector<device::Slice> slices_;
};

}  // namespace evener::bench
