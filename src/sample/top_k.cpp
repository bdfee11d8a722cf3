#include "sample/stage.h"

namespace evener::sample {
namespace {

bool is_on(const Params& params) { return params.top_k > 0; }

void apply(const Params& params, Candidates& candidates) {
  candidates.keep_likeliest(static_cast<size_t>(params.top_k));
}

}  // namespace

extern const Stage top_k;
const Stage top_k = {.name = "top_k", .is_on = is_on, .apply = apply};

}  // namespace evener::sample
