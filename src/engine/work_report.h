#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/work_times.h"

namespace evener::engine {

// What a run spent its time on, and whom its rows were sent to.
struct WorkReport {
  WorkTimes times;
  std::vector<std::vector<uint64_t>> expert_uses;  // [layers][experts]; empty without experts
};

// One layer's uses in a few numbers.
struct ExpertSpread {
  uint64_t num_choices = 0;
  size_t num_used = 0;      // experts that were chosen at all
  double top_share = 0;     // of the choices, the most chosen expert's
  double entropy_bits = 0;  // of the choices; log2(experts) if all are chosen equally often
};
ExpertSpread spread_of(std::span<const uint64_t> uses);

}  // namespace evener::engine
