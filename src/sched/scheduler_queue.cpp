// Who gets a place, and who has to give it back.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "sched/scheduler.h"

namespace evener::sched {
namespace {

auto queue_rank(const Sequence* sequence) {
  return std::tuple(sequence->arrival.priority, sequence->arrival.arrived, sequence->id());
}

bool has_not_run(const Sequence* sequence) { return !sequence->was_admitted; }

}  // namespace

Added Scheduler::add(Arrival arrival) {
  const SequenceId id = arrival.newcomer.id;
  EVENER_ASSERT(id != 0);
  EVENER_ASSERT(!arrival.newcomer.tokens.empty());
  EVENER_ASSERT(!sequences_.contains(id));
  if (arrival.newcomer.tokens.size() + arrival.num_new_tokens_max > tokens_max()) {
    return {.outcome = AddOutcome::too_large};
  }
  Added added;
  const size_t num_queued = static_cast<size_t>(std::ranges::count_if(waiting_, has_not_run));
  const size_t num_free_places = options_.max_sequences - running_.size();
  if (num_queued >= num_free_places && num_queued - num_free_places >= options_.max_queued) {
    Sequence* worst = displaced_by(arrival);
    if (worst == nullptr) return {.outcome = AddOutcome::queue_full};
    added.displaced = worst->id();
    forget(*worst);
  }
  if (arrival.prompt_logits) arrival.newcomer.match_max = 0;  // a match has no logits
  auto sequence = std::make_unique<Sequence>();
  sequence->arrival = std::move(arrival);
  sequence->num_prompt = sequence->tokens().size();
  shares_.enter(sequence->arrival.client);
  enqueue(*sequence, sequence->arrival.arrived);
  sequences_.emplace(id, std::move(sequence));
  return added;
}

// Whoever waits and is worth less than the newcomer, the least of them; null: nobody.
Sequence* Scheduler::displaced_by(const Arrival& arrival) const {
  const auto worst = std::find_if(waiting_.rbegin(), waiting_.rend(), has_not_run);
  if (worst == waiting_.rend() || (*worst)->arrival.priority <= arrival.priority) return nullptr;
  return *worst;
}

void Scheduler::enqueue(Sequence& sequence, Time now) {
  sequence.queued = now;
  const auto before = std::ranges::upper_bound(waiting_, queue_rank(&sequence), {}, queue_rank);
  waiting_.insert(before, &sequence);
}

std::vector<SequenceId> Scheduler::waiting_ids() const {
  std::vector<SequenceId> ids;
  ids.reserve(waiting_.size());
  for (const Sequence* sequence : waiting_) ids.push_back(sequence->id());
  return ids;
}

std::vector<SequenceId> Scheduler::expired(Time now) {
  std::vector<SequenceId> ids;
  for (const Sequence* sequence : waiting_) {
    if (has_not_run(sequence) && now - sequence->queued >= options_.queue_timeout) {
      ids.push_back(sequence->id());
    }
  }
  for (const SequenceId id : ids) remove(id);
  return ids;
}

std::optional<Time> Scheduler::wake_at() const {
  if (options_.queue_timeout == Duration::max()) return {};
  std::optional<Time> earliest;
  for (const Sequence* sequence : waiting_) {
    if (!has_not_run(sequence)) continue;
    const Time end = sequence->queued + options_.queue_timeout;
    earliest = earliest ? std::min(*earliest, end) : end;
  }
  return earliest;
}

void Scheduler::remove(SequenceId id) {
  const auto it = sequences_.find(id);
  if (it == sequences_.end()) return;
  residency_.release(id);
  forget(*it->second);
}

void Scheduler::forget(Sequence& sequence) {
  if (std::erase(waiting_, &sequence) == 0) stop_running(sequence);
  shares_.leave(sequence.arrival.client);
  sequences_.erase(sequence.id());
}

// As many as there are places and room for, by what is free in this moment: nothing is remembered
// from one turn to the next.
void Scheduler::admit(Time now, Step& step) {
  while (!waiting_.empty() && running_.size() < options_.max_sequences &&
         residency_.num_slots_available() > 0) {
    Sequence& candidate = next_in_queue();
    if (!fits(candidate, residency_.match(candidate.arrival.newcomer))) return;
    const auto match = residency_.admit(candidate.arrival.newcomer);
    if (!match) return;
    step.admitted.push_back({.sequence = candidate.id(),
                             .match = *match,
                             .waited = now - candidate.queued,
                             .resumed = candidate.was_admitted});
    note_wait(candidate, now);
    start(candidate, *match, now);
  }
}

// What a newcomer has to expect. Who goes on after it was sent back says nothing about that.
void Scheduler::note_wait(const Sequence& admitted, Time now) {
  if (admitted.was_admitted) return;
  constexpr int kMemory = 8;  // admissions
  counted_.usual_wait += (now - admitted.queued - counted_.usual_wait) / kMemory;
}

// Of the client with the fewest places, then of the one that has had least: its first.
Sequence& Scheduler::next_in_queue() const {
  const auto rank = [this](const Sequence* s) {
    const ClientId client = s->arrival.client;
    return std::tuple(shares_.num_places(client), shares_.served(client), queue_rank(s));
  };
  return **std::ranges::min_element(waiting_, {}, rank);
}

// Whether it and all who run are likely to find the pages that they will need. Who is alone may
// have everything.
bool Scheduler::fits(const Sequence& candidate, const cache::Match& match) const {
  if (running_.empty()) return true;
  size_t needed = pages_likely(candidate) - match.num_tokens / options_.page_size +
                  match.num_pages_to_load + match.num_pages_to_lock;
  for (const Sequence* sequence : running_) {
    const size_t held = residency_.pages(sequence->id()).size();
    needed += std::max(pages_likely(*sequence), held) - held;
  }
  return needed <= residency_.num_pages_available();
}

size_t Scheduler::pages_likely(const Sequence& sequence) const {
  return pages_of(sequence.tokens().size() + growth_.tokens(sequence.num_new_left()));
}

size_t Scheduler::pages_of(size_t num_tokens) const {
  return (num_tokens + options_.page_size - 1) / options_.page_size;
}

size_t Scheduler::tokens_max() const { return num_pages_ * options_.page_size; }

void Scheduler::start(Sequence& sequence, const cache::Match& match, Time now) {
  std::erase(waiting_, &sequence);
  running_.push_back(&sequence);
  shares_.take_place(sequence.arrival.client);
  sequence.was_admitted = true;
  sequence.num_matched = match.num_tokens;
  sequence.num_to_read = sequence.tokens().size();
  sequence.num_issued = match.num_tokens;
  sequence.last_turn = now;
}

void Scheduler::stop_running(Sequence& sequence) {
  std::erase(running_, &sequence);
  shares_.free_place(sequence.arrival.client);
  sequence.restore.clear();
}

// Sends streams back until the others find the pages for their next rows, and for some more: else
// the next turn would send back the next one. Who would have to go next but is in flight is waited
// for, by those who lack a page.
void Scheduler::make_room_for(std::vector<Sequence*>& decodes, Time now, Step& step) {
  while (!cover(decodes)) {
    const bool sent_back = send_back_victims(now, step);
    std::erase_if(decodes, [](const Sequence* s) { return !s->token_known; });
    if (!sent_back) {
      room_is_awaited_ = true;
      std::erase_if(decodes, [this](const Sequence* s) {
        return !residency_.cover(s->id(), s->num_issued + 1);
      });
      return;
    }
    size_t num_done = 0;
    size_t num_max = 0;
    for (const Sequence* sequence : running_) {
      num_done += sequence->num_generated();
      num_max += sequence->arrival.num_new_tokens_max;
    }
    growth_.ran_dry(num_done, num_max, running_.size());
  }
}

// False: the first of them is in flight.
bool Scheduler::send_back_victims(Time now, Step& step) {
  bool sent_back = false;
  do {
    EVENER_ASSERT(running_.size() > 1);  // who is alone has the whole pool
    Sequence& next = victim();
    if (next.num_in_flight > 0) break;
    retract(next, now, step);
    sent_back = true;
  } while (running_.size() > 1 &&
           residency_.num_pages_available() < pages_for_decodes(GrowthEstimate::kStepsAhead));
  return sent_back;
}

bool Scheduler::cover(const std::vector<Sequence*>& decodes) {
  return std::ranges::all_of(
      decodes, [this](const Sequence* s) { return residency_.cover(s->id(), s->num_issued + 1); });
}

// That streams lack for their next num_steps rows.
size_t Scheduler::pages_for_decodes(size_t num_steps) const {
  size_t num_pages = 0;
  for (const Sequence* sequence : running_) {
    if (!sequence->token_known && sequence->num_in_flight == 0) continue;
    if (!sequence->is_stream()) continue;
    const size_t held = residency_.pages(sequence->id()).size();
    const size_t num_rows = std::min(num_steps, sequence->num_new_left() + 1);
    num_pages += std::max(pages_of(sequence->num_issued + num_rows), held) - held;
  }
  return num_pages;
}

// Who loses least and frees most: with the shortest answer, then the longest prompt. So the one
// with the longest answer goes on, and something always comes to its end.
Sequence& Scheduler::victim() const {
  const auto rank = [](const Sequence* s) {
    return std::tuple(s->num_generated(), ~s->num_prompt, ~s->id());
  };
  return **std::ranges::min_element(running_, {}, rank);
}

void Scheduler::retract(Sequence& sequence, Time now, Step& step) {
  step.retracted.push_back(sequence.id());
  residency_.release(sequence.id());
  send_back(sequence, now);
}

// Back into the queue, to the place that its arrival gives it.
void Scheduler::send_back(Sequence& sequence, Time now) {
  stop_running(sequence);
  sequence.token_known = false;
  sequence.num_in_flight = 0;
  sequence.last_token.reset();
  ++counted_.num_retractions;
  enqueue(sequence, now);
}

void Scheduler::load_failed(SequenceId id, Time now) {
  EVENER_ASSERT(!in_flight_.empty());
  Turn& turn = in_flight_.back();
  EVENER_ASSERT(!turn.counts_as_done);
  std::erase_if(turn.slices, [id](const Slice& slice) { return slice.sequence == id; });
  residency_.release(id);
  send_back(*sequences_.at(id), now);
}

void Scheduler::step_failed(Time now) {
  EVENER_ASSERT(options_.depth == 1);  // later steps have gone on from it
  EVENER_ASSERT(!in_flight_.empty());
  for (const Slice& slice : in_flight_.front().slices) {
    const auto it = sequences_.find(slice.sequence);
    if (it == sequences_.end()) continue;
    residency_.release(slice.sequence);
    send_back(*it->second, now);
  }
  in_flight_.pop_front();
}

std::vector<SequenceId> Scheduler::all_failed() {
  in_flight_.clear();
  std::vector<SequenceId> ids;
  for (const Sequence* sequence : running_) ids.push_back(sequence->id());
  for (const SequenceId id : ids) remove(id);
  residency_.flush();
  (void)residency_.take_transfers();  // of what is no longer there
  debt_.forgive();
  streams_held_up_ = false;
  return ids;
}

}  // namespace evener::sched
