#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "sched/step.h"

namespace evener::sched::first_come {

struct SchedulerOptions {
  size_t max_sequences = 16;      // running at once, >= 1
  size_t prefill_chunk = 512;     // prompt tokens a step, >= 1
  size_t prompt_logit_rows = 32;  // prompt tokens a step whose logits are all wanted, >= 1
  size_t page_size = 64;          // positions
};

// A sequence that wants to run.
struct Arrival {
  SequenceId id = 0;
  size_t num_prompt_tokens = 0;   // >= 1
  size_t num_new_tokens_max = 0;  // 0: only the prompt is read
  bool prompt_logits = false;     // the logits of all prompt tokens are wanted
};

// What the pools can still promise. The pools belong to the caller, who sets aside what each
// admitted sequence needs before the next decision.
struct Room {
  size_t pages = 0;
  size_t state_slots = 0;  // SIZE_MAX in models without recurrent layers
};

// Sequences to steps, first come first served.
//
// A step carries one decode row of every running sequence whose last token is known, and up to
// prefill_chunk prompt tokens of running sequences in order of arrival; the last one may get only a
// part. A sequence is admitted only when a place, a state slot and all pages that it can ever need
// are free, and never before one that came earlier; so it runs to its end once admitted.
//
// Pure: a state machine without clock, lock or device. The same calls give the same steps. Prompt
// steps do not wait for the results of earlier ones, so several may be in flight. One thread.
// Source: reference/serving/scheduler.md. Judge: tests/sched/first_come_test.cpp.
class Scheduler {
 public:
  explicit Scheduler(const SchedulerOptions& options) : options_(options) {}

  // Behind all others. The id must not be known already.
  void add(const Arrival& arrival);

  // Takes in what has become possible and returns what to run next; progress is counted as if it
  // had run already.
  Step next_step(Room room);

  // The running sequence was given its next token, which the next step shall read.
  void token_known(SequenceId id);

  // Forgets a sequence that has ended or was cancelled, queued or running. Unknown ids are ignored.
  void remove(SequenceId id);

  size_t num_waiting() const { return waiting_.size(); }
  size_t num_running() const { return running_.size(); }

  // Pages that a sequence can need at most.
  size_t pages_of(const Arrival& arrival) const;

 private:
  struct Running {
    Arrival arrival;
    size_t num_issued = 0;  // positions that steps have covered
    bool token_known = false;
    bool reads_prompt() const { return num_issued < arrival.num_prompt_tokens; }
  };

  void admit(Room room, Step& step);
  void add_decodes(Step& step);
  void add_prompts(Step& step);
  static Slice prompt_slice(Running& sequence, size_t num_tokens);

  SchedulerOptions options_;
  std::deque<Arrival> waiting_;   // in order of arrival
  std::vector<Running> running_;  // in order of arrival
  uint64_t num_steps_ = 0;
};

}  // namespace evener::sched::first_come
