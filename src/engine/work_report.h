#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/work_times.h"

namespace evener::engine {

// What a run spent its time on, and whom its rows were sent to.
struct RankTimes {
  std::string name;  // "rank 1 (cpu:0[1])"
  std::shared_ptr<WorkTimes> times;
};

struct WorkReport {
  WorkTimes times;  // of the thread that runs the steps, with one rank the device's too
  std::vector<RankTimes> ranks;                    // of several ranks, what each spent
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
