#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulate/invariants.h"
#include "simulate/workload.h"

namespace evener::simulate {

// What became of a request.
enum class Fate {
  to_come,
  waiting,
  running,
  finished,
  cancelled,
  too_large,
  queue_full,
  displaced,
  timed_out,
  failed  // the device lost it
};

// One request on its way. Its id is its number among the requests, from 1.
struct Life {
  const Request* request = nullptr;
  History history{0, false};  // prompt and the whole answer, from the model without a scheduler

  Fate fate = Fate::to_come;
  std::optional<sched::Time> arrived;
  std::optional<sched::Time> ended;
  size_t num_known = 0;     // tokens: prompt and the answer so far
  size_t num_issued = 0;    // positions, since its last admission, that steps have covered
  size_t num_computed = 0;  // of them, those that have been run
  bool token_due = false;   // its next row is a decode row
  sched::Time last_turn{};
  std::optional<sched::Time> last_token;  // while it runs
  std::vector<sched::Duration> gaps;      // between tokens
  size_t num_first_matched = 0;           // tokens, at its first admission
  size_t tokens_computed = 0;             // in all
  sched::Duration service{};              // its part of the steps' time, by what rows cost
  size_t num_admissions = 0;
  size_t num_logits_seen = 0;  // of the prompt, where all are wanted

  bool is_over() const { return ended.has_value(); }
  bool reads_prompt() const {
    return fate == Fate::running && !token_due && num_issued < num_known;
  }
  // It gives tokens, or will with rows that are in flight.
  bool is_stream() const {
    return fate == Fate::running && request->num_new_tokens_max > 0 &&
           (token_due || num_issued == num_known);
  }
};

struct Outcome {
  Verdict verdict;
  std::vector<Life> lives;
  sched::SchedulerStats scheduler;
  cache::CacheStats cache;
  sched::Time end{};
  uint64_t num_failed_steps = 0;
  uint64_t num_failed_loads = 0;
  sched::Duration gap_max{};            // while a stream ran
  sched::Duration contended_longest{};  // step
};

// Runs the workload to its end, or to the first breach, as the engine would: the same calls in the
// same order, with a clock of its own.
Outcome simulate(const Workload& workload);

}  // namespace evener::simulate
