#pragma once

#include <cstddef>

#include "engine/ranks.h"

namespace evener::engine {

struct WarmUpOptions {
  size_t num_rows = 0;  // that a pass may have, >= 1
  bool has_state = false;
};

// Runs a short prompt and a single token through the ranks, so that threads, tables and weights
// have been touched before the first request. Leaves traces only in page 0 and slot 0, which their
// first owner overwrites. Error: unavailable, as Ranks::end().
Status warm_up(Ranks& ranks, const WarmUpOptions& options);

}  // namespace evener::engine
