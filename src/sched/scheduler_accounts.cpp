// What steps have cost whom.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "sched/scheduler.h"

namespace evener::sched {

void Scheduler::step_done(Time began, Time ended) {
  EVENER_ASSERT(step_runs_);
  step_runs_ = false;
  const Duration took = std::max(ended - began, Duration::zero());
  for (const Slice& slice : turn_.slices) {
    residency_.computed(slice.sequence, slice.position_end());
    Sequence& sequence = *sequences_.at(slice.sequence);
    cache::Newcomer& newcomer = sequence.arrival.newcomer;
    if (sequence.arrival.prompt_logits) {  // these rows' logits have been seen
      newcomer.match_max = std::max(newcomer.match_max, slice.position_end());
    }
    if (sequence.is_stream()) note_token(sequence, ended);
  }
  if (turn_.work.decode_rows > 0) growth_.decode_ran();
  charge_clients(took);
  settle_debt(took);
  note_durations(took);
  cost_.measure(turn_.work, took);
}

// The step's time, in parts as its slices and restores would have taken alone.
void Scheduler::charge_clients(Duration took) {
  std::vector<std::pair<SequenceId, double>> parts;
  double sum = 0;
  const auto add = [&](SequenceId id, const StepWork& work) {
    parts.emplace_back(id, seconds(cost_.predict(work)));
    sum += parts.back().second;
  };
  for (const Slice& slice : turn_.slices) {
    StepWork work;
    work.add(slice);
    add(slice.sequence, work);
  }
  for (const auto& [id, num_pages] : turn_.restores) add(id, {.moved_pages = num_pages});
  if (sum <= 0) return;
  for (const auto& [id, part] : parts) {
    shares_.charge(sequences_.at(id)->arrival.client, from_seconds(seconds(took) * part / sum));
  }
}

// Streams are owed for what prompts added to the step, and are paid by steps of their own.
void Scheduler::settle_debt(Duration took) {
  if (!is_contended()) return debt_.forgive();
  if (!turn_.serves_prompts()) return debt_.decode_ran(took);
  if (!turn_.contended) return;
  double prompt_part = 1;
  if (turn_.decode_work.decode_rows > 0) {
    prompt_part -= seconds(cost_.predict(turn_.decode_work)) / seconds(cost_.predict(turn_.work));
  }
  debt_.prompt_ran(from_seconds(seconds(took) * prompt_part));
}

void Scheduler::note_durations(Duration took) {
  if (turn_.holds_up_streams()) {
    longest_contended_ = std::max(longest_contended_, took);
  } else if (turn_.work.decode_rows > 0) {
    longest_decode_ = std::max(longest_decode_, took);
  }
}

void Scheduler::note_token(Sequence& sequence, Time ended) {
  if (sequence.last_token) {
    counted_.gap_max = std::max(counted_.gap_max, ended - *sequence.last_token);
  }
  sequence.last_token = ended;
}

void Scheduler::token_known(SequenceId id, cache::TokenId token) {
  EVENER_ASSERT(!step_runs_);
  Sequence& sequence = *sequences_.at(id);
  EVENER_ASSERT(sequence.is_stream());
  EVENER_ASSERT(!sequence.token_known);
  EVENER_ASSERT(sequence.num_issued == sequence.tokens().size());
  EVENER_ASSERT(sequence.num_new_left() > 0);
  sequence.arrival.newcomer.tokens.push_back(token);
  sequence.token_known = true;
  residency_.append(id, token);
}

// Between two tokens lie at most the prompt steps in a row that the rule allows, and a decode step.
std::optional<Duration> Scheduler::gap_bound() const {
  if (!options_.max_prefill_steps) return longest_contended_ + longest_decode_;
  const size_t num_steps = *options_.max_prefill_steps;
  if (num_steps == 0) return {};
  return longest_contended_ * num_steps + longest_decode_;
}

SchedulerStats Scheduler::stats() const {
  SchedulerStats stats = counted_;
  stats.num_waiting = waiting_.size();
  stats.num_running = running_.size();
  for (const Sequence* sequence : waiting_) stats.tokens_waiting += sequence->tokens().size();
  stats.gap_bound = gap_bound();
  stats.decode_owed = debt_.owed();
  stats.growth_share = growth_.share();
  stats.cost = cost_.coefficients();
  stats.cost_error = cost_.error();
  return stats;
}

}  // namespace evener::sched
