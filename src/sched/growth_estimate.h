#pragma once

#include <algorithm>
#include <cstddef>

namespace evener::sched {

// How much of the answer that a sequence may still give it is likely to give. Setting aside room
// for the whole would leave most of the pool empty, since answers end early; too little, and
// sequences have to be sent back when the pool runs dry. So the share falls slowly while all goes
// well, and jumps up to what was seen when something had to be sent back. Source:
// reference/serving/scheduler.md, 5.
class GrowthEstimate {
 public:
  // Tokens to set aside for a sequence that may still give num_tokens_left.
  size_t tokens(size_t num_tokens_left) const {
    const auto clipped = static_cast<double>(std::min(num_tokens_left, kTokensMax));
    return static_cast<size_t>(clipped * share_);
  }

  void decode_ran() { share_ = std::max(share_ - kStep, kShareMin); }

  // Those that run on have given num_done tokens of the num_max that they may give at most.
  void ran_dry(size_t num_done, size_t num_max, size_t num_running) {
    const auto reached = static_cast<double>(num_done + kStepsAhead * num_running);
    share_ = std::clamp(reached / static_cast<double>(num_max + 1), share_, 1.0);
  }

  double share() const { return share_; }

  static constexpr size_t kStepsAhead = 20;  // decode steps that a cleared pool shall last

 private:
  static constexpr size_t kTokensMax = 4096;
  static constexpr double kShareFirst = 0.7;
  static constexpr double kShareMin = 0.1;
  static constexpr double kStep = (kShareFirst - kShareMin) / 600;  // decode steps to the minimum

  double share_ = kShareFirst;
};

}  // namespace evener::sched
