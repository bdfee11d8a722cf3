#pragma once

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace evener::bench {

// thread is the calling thread's own time: for one thread on a machine that others use too.
enum class Clock { wall, thread };

inline double seconds(Clock clock) {
  timespec now{};
  clock_gettime(clock == Clock::thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

// The time of the best of `rounds` calls, which is what a busy machine leaves comparable.
template <class Body>
double best_seconds(size_t rounds, Body body, Clock clock = Clock::wall) {
  double best = std::numeric_limits<double>::max();
  for (size_t round = 0; round <= rounds; ++round) {  // round 0 warms up
    const double start = seconds(clock);
    body();
    const double elapsed = seconds(clock) - start;
    if (round > 0) best = std::min(best, elapsed);
  }
  return best;
}

}  // namespace evener::bench
