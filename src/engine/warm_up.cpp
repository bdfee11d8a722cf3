#include "engine/warm_up.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace evener::engine {
namespace {

constexpr size_t kRowsMax = 16;  // within one page
constexpr int32_t kPage = 0;
constexpr int32_t kSlot = 0;

Status run_rows(Ranks& ranks, size_t num_rows, int32_t state_slot, Wanted wanted) {
  const std::vector<int32_t> tokens(num_rows, 0);
  std::vector<int32_t> positions(num_rows);
  std::iota(positions.begin(), positions.end(), 0);
  const int32_t last_row = static_cast<int32_t>(num_rows) - 1;
  const device::Slice slice{.first_row = 0,
                            .num_rows = num_rows,
                            .first_position = 0,
                            .pages = {&kPage, 1},
                            .state_slot = state_slot};
  if (state_slot >= 0) ranks.clear_state(state_slot);
  ranks.begin({.input = {.tokens = tokens,
                         .positions = positions,
                         .batch = {.slices = {&slice, 1}, .num_rows = num_rows},
                         .logit_rows = {&last_row, 1}},
               .wanted = wanted});
  RETURN_IF_ERROR(ranks.end());
  return {};
}

}  // namespace

Status warm_up(Ranks& ranks, const WarmUpOptions& options) {
  const int32_t state_slot = options.has_state ? kSlot : -1;
  RETURN_IF_ERROR(
      run_rows(ranks, std::min(options.num_rows, kRowsMax), state_slot, Wanted::logits));
  return run_rows(ranks, 1, state_slot, Wanted::best_tokens);
}

}  // namespace evener::engine
