#include "sample/stage.h"

namespace evener::sample {
namespace {

bool is_on(const Params& params) { return params.temperature != 1; }

// Logits are relative to the best, so the smallest temperature turns the others into -infinity and
// leaves the best at 0.
void apply(const Params& params, Candidates& candidates) {
  for (Candidate& candidate : candidates.entries()) {
    if (candidate.logit != 0) candidate.logit /= params.temperature;
  }
}

}  // namespace

extern const Stage temperature;
const Stage temperature = {.name = "temperature", .is_on = is_on, .apply = apply};

}  // namespace evener::sample
