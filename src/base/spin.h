#pragma once

#include <chrono>

namespace evener {

// Longer than the gaps between the parallel regions of one decode step, short against a scheduler
// tick.
inline constexpr auto kSpinTime = std::chrono::microseconds(60);

// Tells the core that its thread only waits.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Spins until done() or kSpinTime has passed; says which.
template <class Done>
bool spin_until(Done done) {
  constexpr int kSpinsPerClockRead = 32;
  const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kSpinsPerClockRead; ++i) {
      if (done()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

}  // namespace evener
