// What steps have cost whom.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "sched/scheduler.h"

namespace evener::sched {

void Scheduler::step_done(Time began, Time ended) {
  EVENER_ASSERT(!in_flight_.empty());
  Turn turn = std::move(in_flight_.front());
  in_flight_.pop_front();
  count_as_done(turn);
  for (const Slice& slice : turn.slices) {
    const auto it = sequences_.find(slice.sequence);
    if (it == sequences_.end()) continue;  // removed meanwhile
    Sequence& sequence = *it->second;
    --sequence.num_in_flight;
    cache::Newcomer& newcomer = sequence.arrival.newcomer;
    if (sequence.arrival.prompt_logits) {  // these rows' logits have been seen
      newcomer.match_max = std::max(newcomer.match_max, slice.position_end());
    }
    if (sequence.gives_token_at(slice.position_end())) note_token(sequence, ended);
  }
  if (turn.work.decode_rows > 0) growth_.decode_ran();
  const Duration took = time_of(began, ended);
  last_ended_ = ended;
  charge_clients(turn, took);
  if (options_.depth == 1) settle_debt(turn, took);
  note_durations(turn, began, ended);
  cost_.measure(turn.work, took);
}

// What the step takes in all stages together. From its beginning to its end there may be more: what
// it waited for others before it. In a full pipe, the last stage ends a step when each stage has
// done its part of one.
Duration Scheduler::time_of(Time began, Time ended) const {
  Duration took = ended - began;
  if (options_.depth > 1) {
    const auto depth = static_cast<Duration::rep>(options_.depth);
    took = std::min(took, (ended - last_ended_) * depth);
  }
  return std::max(took, Duration::zero());
}

// The step's time, in parts as its slices and restores would have taken alone.
void Scheduler::charge_clients(const Turn& turn, Duration took) {
  std::vector<std::pair<SequenceId, double>> parts;
  double sum = 0;
  const auto add = [&](SequenceId id, const StepWork& work) {
    parts.emplace_back(id, seconds(cost_.predict(work)));
    sum += parts.back().second;
  };
  for (const Slice& slice : turn.slices) {
    StepWork work;
    work.add(slice);
    add(slice.sequence, work);
  }
  for (const auto& [id, num_pages] : turn.restores) add(id, {.moved_pages = num_pages});
  if (sum <= 0) return;
  for (const auto& [id, part] : parts) {
    const auto it = sequences_.find(id);
    if (it == sequences_.end()) continue;
    shares_.charge(it->second->arrival.client, from_seconds(seconds(took) * part / sum));
  }
}

// Streams are owed for what prompts added to the step, and are paid by steps of their own.
void Scheduler::settle_debt(const Turn& turn, Duration took) {
  if (!is_contended()) return debt_.forgive();
  if (!turn.serves_prompts()) return debt_.decode_ran(took);
  if (!turn.contended) return;
  double prompt_part = 1;
  if (turn.decode_work.decode_rows > 0) {
    prompt_part -= seconds(cost_.predict(turn.decode_work)) / seconds(cost_.predict(turn.work));
  }
  debt_.prompt_ran(from_seconds(seconds(took) * prompt_part));
}

void Scheduler::note_durations(const Turn& turn, Time began, Time ended) {
  Duration took = std::max(ended - began, Duration::zero());
  if (options_.depth > 1) {  // somebody's row waits from the step's choice on
    took = std::max(ended - turn.issued, Duration::zero());
    longest_drain_ = std::max(longest_drain_, began - turn.issued);
  }
  if (turn.holds_up_streams()) {
    longest_contended_ = std::max(longest_contended_, took);
  } else if (turn.work.decode_rows > 0) {
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
  Sequence& sequence = *sequences_.at(id);
  EVENER_ASSERT(sequence.num_in_flight == 0);
  EVENER_ASSERT(sequence.is_stream());
  EVENER_ASSERT(!sequence.token_known);
  EVENER_ASSERT(sequence.num_issued == sequence.tokens().size());
  EVENER_ASSERT(sequence.num_new_left() > 0);
  sequence.arrival.newcomer.tokens.push_back(token);
  sequence.token_known = true;
  residency_.append(id, token);
}

// Between two tokens lie at most the prompt steps in a row that the rule allows, and a decode step.
// In a pipe, a stream may have to leave one more to others, so that they spread over the steps, and
// to wait until the pipe has run empty for somebody's pages to be saved.
std::optional<Duration> Scheduler::gap_bound() const {
  const size_t num_steps = options_.max_prefill_steps.value_or(1);
  if (num_steps == 0) return {};
  const int num_decodes = options_.depth > 1 ? 2 : 1;
  return longest_contended_ * num_steps + longest_decode_ * num_decodes + longest_drain_;
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
