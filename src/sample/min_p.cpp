#include "sample/stage.h"

namespace evener::sample {
namespace {

bool is_on(const Params& params) { return params.min_p > 0; }

void apply(const Params& params, Candidates& candidates) {
  candidates.keep_near_best(double{params.min_p});
}

}  // namespace

extern const Stage min_p;
const Stage min_p = {.name = "min_p", .is_on = is_on, .apply = apply};

}  // namespace evener::sample
