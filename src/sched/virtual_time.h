#pragma once

#include <chrono>

namespace evener::sched {

// Time as the caller tells it: since any fixed moment, never read from a clock here.
using Time = std::chrono::nanoseconds;
using Duration = std::chrono::nanoseconds;

inline double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

inline Duration from_seconds(double time) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(time));
}

}  // namespace evener::sched
