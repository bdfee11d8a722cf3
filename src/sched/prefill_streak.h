#pragma once

#include <algorithm>
#include <cstddef>

namespace evener::sched {

// The bound in steps: after `limit` prompt steps in a row the next turn belongs to the decodes, if
// there are any. 0: no bound, prompts go first.
//
// The count stops at the limit, so that a stream that becomes runnable after a long row of prompt
// steps gets the very next turn. Only a decode step that really ran sets it back: a turn that was
// kept free and then came to nothing does not count.
// Source: reference/serving/scheduler.md, 3.2.
class PrefillStreak {
 public:
  explicit PrefillStreak(size_t limit) : limit_(limit) {}

  bool forces_decode() const { return limit_ > 0 && length_ == limit_; }
  void prompt_issued() { length_ = std::min(length_ + 1, limit_); }
  void decode_issued() { length_ = 0; }

 private:
  size_t limit_;
  size_t length_ = 0;
};

}  // namespace evener::sched
