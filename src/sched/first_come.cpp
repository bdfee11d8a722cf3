#include "sched/first_come.h"

#include <algorithm>

#include "base/assert.h"

namespace evener::sched::first_come {

void Scheduler::add(const Arrival& arrival) {
  EVENER_ASSERT(arrival.num_prompt_tokens > 0);
  waiting_.push_back(arrival);
}

size_t Scheduler::pages_of(const Arrival& arrival) const {
  const size_t num_tokens = arrival.num_prompt_tokens + arrival.num_new_tokens_max;
  return (num_tokens + options_.page_size - 1) / options_.page_size;
}

Step Scheduler::next_step(Room room) {
  Step step;
  admit(room, step);
  add_decodes(step);
  add_prompts(step);
  if (!step.empty()) step.number = ++num_steps_;
  return step;
}

void Scheduler::admit(Room room, Step& step) {
  while (!waiting_.empty() && running_.size() < options_.max_sequences && room.state_slots > 0) {
    const Arrival& arrival = waiting_.front();
    const size_t num_pages = pages_of(arrival);
    if (num_pages > room.pages) return;
    room.pages -= num_pages;
    --room.state_slots;
    step.admitted.push_back({.sequence = arrival.id, .match = {}});
    running_.push_back({.arrival = arrival});
    waiting_.pop_front();
  }
}

void Scheduler::add_decodes(Step& step) {
  for (Running& sequence : running_) {
    if (!sequence.token_known) continue;
    step.slices.push_back({.sequence = sequence.arrival.id,
                           .first_position = sequence.num_issued,
                           .num_tokens = 1,
                           .kind = Slice::Kind::decode,
                           .logits = Slice::Logits::last});
    ++sequence.num_issued;
    sequence.token_known = false;
  }
}

void Scheduler::add_prompts(Step& step) {
  size_t tokens_left = options_.prefill_chunk;
  size_t logits_left = options_.prompt_logit_rows;
  for (Running& sequence : running_) {
    if (!sequence.reads_prompt()) continue;
    size_t num_tokens =
        std::min(sequence.arrival.num_prompt_tokens - sequence.num_issued, tokens_left);
    if (sequence.arrival.prompt_logits) num_tokens = std::min(num_tokens, logits_left);
    if (num_tokens == 0) continue;
    tokens_left -= num_tokens;
    if (sequence.arrival.prompt_logits) logits_left -= num_tokens;
    step.slices.push_back(prompt_slice(sequence, num_tokens));
  }
}

Slice Scheduler::prompt_slice(Running& sequence, size_t num_tokens) {
  Slice slice{.sequence = sequence.arrival.id,
              .first_position = sequence.num_issued,
              .num_tokens = num_tokens,
              .kind = Slice::Kind::prompt,
              .logits = Slice::Logits::none};
  sequence.num_issued += num_tokens;
  if (sequence.arrival.prompt_logits) {
    slice.logits = Slice::Logits::all;
  } else if (!sequence.reads_prompt() && sequence.arrival.num_new_tokens_max > 0) {
    slice.logits = Slice::Logits::last;
  }
  return slice;
}

void Scheduler::token_known(SequenceId id) {
  const auto it = std::ranges::find(running_, id, [](const Running& r) { return r.arrival.id; });
  EVENER_ASSERT(it != running_.end());
  EVENER_ASSERT(!it->reads_prompt());
  EVENER_ASSERT(!it->token_known);
  EVENER_ASSERT(it->num_issued < it->arrival.num_prompt_tokens + it->arrival.num_new_tokens_max);
  it->token_known = true;
}

void Scheduler::remove(SequenceId id) {
  std::erase_if(waiting_, [id](const Arrival& arrival) { return arrival.id == id; });
  std::erase_if(running_, [id](const Running& sequence) { return sequence.arrival.id == id; });
}

}  // namespace evener::sched::first_come
