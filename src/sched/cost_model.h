#pragma once

#include <array>
#include <cstddef>

#include "sched/step.h"
#include "sched/virtual_time.h"

namespace evener::sched {

// What the time of a step depends on.
struct StepWork {
  size_t prompt_tokens = 0;
  size_t decode_rows = 0;
  // Sums over the rows of how many positions each attends to. The rows of a chunk read them
  // together, a decode row by itself, which costs several times as much.
  double prompt_positions = 0;
  double decode_positions = 0;
  double moved_pages = 0;  // to and from the tiers, a state counted as the pages of its size

  // Rows [first_position, first_position + num_tokens) of one sequence.
  void add(const Slice& slice);
};

// Learns while it runs how long a step takes:
//
//     seconds = c0 + c1 [prompt_tokens > 0] + c2 prompt_tokens + c3 prompt_positions
//               + c4 decode_rows + c5 decode_positions + c6 moved_pages,  all c >= 0
//
// c1 is what the first prompt token of a step costs beside the token: many rows want the weights in
// another form, and they are brought into it once a step, however many the rows are.
//
// Least squares of the relative error over the steps measured so far, older ones counting less.
// A coefficient of which the recent steps say nothing (hours of decoding, no prompt) stays where it
// was. A measurement far off what was predicted is pulled in before it counts, so that one hiccup
// changes little, and a lasting change is followed within a few steps.
//
// It begins slow: as if `chunk_min` prompt tokens took `max_gap`. So the first chunks that could
// stall anybody are small, and largest_safe_chunk() at most doubles what has been measured.
// One thread. Judge: tests/sched/cost_model_test.cpp.
class CostModel {
 public:
  struct Prior {
    Duration max_gap = std::chrono::milliseconds(400);
    size_t chunk_min = 64;
  };
  explicit CostModel(const Prior& prior);

  void measure(const StepWork& work, Duration took);

  Duration predict(const StepWork& work) const;

  // With the usual size of its errors on top: most steps like this one are faster.
  Duration predict_high(const StepWork& work) const;

  // Largest number of tokens of `prompt`, at most prompt.num_tokens, that keeps a step with `work`
  // in it within `limit` by predict_high(). 0 if not even one token does.
  size_t largest_safe_chunk(const StepWork& work, const Slice& prompt, Duration limit) const;

  // The number of tokens of `prompt`, 1 <= it <= prompt.num_tokens, that takes about as long as the
  // rest of the step, `work` and what any prompt costs: with fewer, more than half of the time
  // would go into what is not reading.
  size_t worthwhile_chunk(const StepWork& work, const Slice& prompt) const;

  // Prompt tokens a step so that num_tokens of them go fastest through a pipe of `depth` >= 2
  // stages: with fewer, steps cost too much beside their tokens; with more, stages wait too long
  // for the first step and for the last.
  size_t best_pipe_chunk(size_t num_tokens, size_t depth) const;

  static constexpr size_t kNumTerms = 7;
  static constexpr size_t kMovedPages = 6;
  using Terms = std::array<double, kNumTerms>;
  // c0..c6, seconds.
  Terms coefficients() const;

  double error() const { return error_; }  // usual |measured / predicted - 1| of steps with prompts
  size_t num_measured() const { return num_measured_; }

 private:
  Terms terms(const StepWork& work) const;
  void calibrate(const Terms& x, double measured);
  double judge(const StepWork& work, double predicted, double measured);
  void distrust_past();
  void solve();

  Terms unit_;   // seconds a unit of each term takes before anything is known
  Terms scale_;  // coefficients in those units: all 1 in the beginning
  std::array<bool, kNumTerms> is_met_{};     // in a step that was measured
  std::array<Terms, kNumTerms> products_{};  // sum of weight x x^T, x in units
  Terms targets_{};                          // sum of weight x y
  double error_ = 0;
  size_t num_measured_ = 0;
  std::array<size_t, 2> num_surprises_{};  // in a row: of steps without prompts, with prompts
  size_t largest_chunk_;                   // prompt tokens of a step, of those measured
};

}  // namespace evener::sched
