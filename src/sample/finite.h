#pragma once

#include <algorithm>
#include <cfloat>

namespace evener::sample {

// An adjusted logit that overflowed is still a logit, not "out of the question" (-infinity).
inline float clamp_finite(float logit) { return std::clamp(logit, -FLT_MAX, FLT_MAX); }

}  // namespace evener::sample
