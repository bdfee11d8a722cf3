#pragma once

#include <algorithm>

#include "base/assert.h"
#include "sched/virtual_time.h"

namespace evener::sched {

// What prompts owe to the streams that they held up. Reading a prompt for a time t while somebody
// waits for tokens costs d/(1-d) t of decoding afterwards, so that decodes keep the share d of the
// time whatever a chunk costs. A debt in time, not in steps: steps are of very different length.
// Source: reference/serving/scheduler.md, 3.5.
class DecodeDebt {
 public:
  // `share`: d, 0 <= d < 1. `limit`: no more is remembered; a prompt that has waited as long goes
  // ahead whatever it owes.
  DecodeDebt(double share, Duration limit) : rate_(share / (1 - share)), limit_(limit) {
    EVENER_ASSERT(share >= 0);
    EVENER_ASSERT(share < 1);
  }

  void prompt_ran(Duration took) {
    owed_ = std::min(owed_ + from_seconds(rate_ * seconds(took)), limit_);
  }
  void decode_ran(Duration took) { owed_ = std::max(owed_ - took, Duration::zero()); }
  // The last stream is gone: nobody is left to be paid.
  void forgive() { owed_ = Duration::zero(); }

  bool is_owed() const { return owed_ > Duration::zero(); }
  Duration owed() const { return owed_; }

 private:
  double rate_;
  Duration limit_;
  Duration owed_{};
};

}  // namespace evener::sched
