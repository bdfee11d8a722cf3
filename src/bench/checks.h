#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bench/cell.h"
#include "bench/finding.h"
#include "bench/record.h"

// The detection of faults: pure functions over what was recorded, so that a store can be judged
// again. The rules stand here; docs/benchmarks.md shows each of them beside what sets it off.
// Source: reference/serving/bench.md, 1 and 3; seed-facts.md, 7.

namespace evener::bench {

// What a measurement meant to do, for what no record can tell.
struct Expectations {
  bool cold = false;           // the whole prompt must have been computed
  bool forced_length = false;  // num_tokens_out_wanted must be reached
  bool exact_prompts = true;   // prompts were made with the server's tokenizer
  bool judge_stalls = true;    // off where long gaps are what is measured
  bool percentiles = false;    // tail latencies are to be told: p99 needs 100 requests
  size_t num_samples_min = 3;  // counted requests; 1 where other cells are the further rounds
  // Closed loop: users, and the mean number of requests in flight that was seen.
  std::optional<double> in_flight_wanted;
  std::optional<double> in_flight_seen;
};

// What is wrong with one request. In this order, at most one each:
//
//   failures      RequestRecord::fault, by its name                                      warning
//   truncated_stream   a finish_reason, but no [DONE]                                       note
//   empty_answer  status 200, no output, no error                                        warning
//   malformed_event    events that are no JSON or no chunk, the answer went on           warning
//   no_usage      the answer came, its tokens were not counted                           warning
//   wrong_usage   fewer tokens than text events less one (the last may let go of text held
//                 back), more than max_tokens, 0 in the prompt, more cached than in the prompt,
//                 more reasoning than out, or counts that shrank within a stream           voids
//                 prompt off by more than 1 token; if not exact, by more than 2 % and 8  warning
//   early_end     forced length: fewer tokens than wanted                                warning
//   cached_prompt cold: more than 32 tokens cached                                         voids
//                 1 to 32: note. A template begins all prompts with the same few tokens, and some
//                 servers keep single tokens
//   cold_unproven cold: num_tokens_cached not told                                       warning
//   merged_events 8 tokens or more, and events are fewer than 90 % of them: a note if events tell
//                 their tokens, else a warning, as the gaps between tokens cannot be known
//   buffered_stream    8 events or more, and more than half of them share the read of the event
//                 before, 10 ms or more after the read before that (or the request), and the server
//                 does not say that it decoded for less: warning; all in one read: voids, the first
//                 token's time is unknown
//   stall         16 gaps or more, and one is longer than 100 ms and than 10 times the 90th
//                 percentile of the request's gaps (events of one read count once)       warning
//   retried       attempt > 0                                                            warning
//
// What was cancelled by us is judged by its retries alone.
std::vector<Finding> check_request(const RequestRecord& record, const Expectations& expected);

// What is wrong with a cell: what check_request finds in its requests (those that say the same are
// one, with their number; of one fault the first five, and one for the rest), and
//
//   early_end     forced length: median of the tokens below 90 % of those wanted           voids
//   failures      more than a tenth of the counted requests failed or were empty: what is left over
//                 is a choice of the quick ones. Under the fault that is most frequent     voids
//   sender_late   p99 of sent - scheduled (the maximum below 100) is over 5 ms, or over 1 % of the
//                 median gap between events where that is more than 1 ms, which is what a timer
//                 can be late on its own                                                   voids
//   concurrency_missed  mean in flight more than 5 % off                                   voids
//   too_few_samples     fewer than num_samples_min answers: warning; percentiles and fewer than
//                 100: note
//
// Requests that are excluded are judged by their failures alone, and do not count.
std::vector<Finding> check_cell(const CellRecord& cell, std::span<const RequestRecord> requests,
                                const Expectations& expected);

// Of a cell that was complete: voided if a finding voids it.
CellState settle(CellState state, std::span<const Finding> findings);

// Three clocks at one moment.
struct ClockReading {
  Nanoseconds monotonic{0};  // stands still while the machine sleeps
  Nanoseconds wall{0};
  Nanoseconds boot{0};  // monotonic, and goes on in sleep
};
ClockReading read_clocks();

// clock_jumped: the machine slept for more than 50 ms (voids), or the wall clock went apart from
// the monotonic one by more than 50 ms and 500 ppm, the most that time daemons slew (warning).
std::optional<Finding> check_clocks(const ClockReading& before, const ClockReading& after);

}  // namespace evener::bench
