#pragma once

#include <cstdint>

#include "sample/candidates.h"

namespace evener::sample {

// The index-th number of the stream that belongs to `seed`, uniform in [0, 1). A counter, not a
// state: the n-th token of a sequence gets the same number whatever was drawn elsewhere.
double uniform(uint64_t seed, uint64_t index);

// The candidate at `fraction` in [0, 1) of the total weight, counted in the order of the entries.
TokenId draw(const Candidates& candidates, double fraction);

}  // namespace evener::sample
