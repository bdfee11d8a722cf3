#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>

namespace evener::bench {

// The time of the best of `rounds` calls, which is what a busy machine leaves comparable.
template <class Body>
double best_seconds(size_t rounds, Body body) {
  double best = std::numeric_limits<double>::max();
  for (size_t round = 0; round <= rounds; ++round) {  // round 0 warms up
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (round > 0) best = std::min(best, elapsed.count());
  }
  return best;
}

}  // namespace evener::bench
