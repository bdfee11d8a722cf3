#include "sample/stage.h"

namespace evener::sample {
namespace {

bool is_on(const Params& params) { return params.top_p < 1; }

// The likeliest tokens that together have probability top_p (Holtzman et al. 2019). No logit is
// above 0, so those nearest 0 are the likeliest.
void apply(const Params& params, Candidates& candidates) {
  candidates.keep_mass_around(0, double{params.top_p});
}

}  // namespace

extern const Stage top_p;
const Stage top_p = {.name = "top_p", .is_on = is_on, .apply = apply};

}  // namespace evener::sample
