// Whose turn it is, and what the turn consists of. Who gets a place: scheduler_queue.cpp; what
// steps have cost whom: scheduler_accounts.cpp.
#include "sched/scheduler.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/assert.h"

namespace evener::sched {
namespace {

constexpr size_t kGridShare = 8;  // a chunk gives up one token in so many to end on a page

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options, cache::Residency& residency)
    : options_(options),
      residency_(residency),
      num_pages_(residency.stats().num_pages),
      cost_({.max_gap = options.max_gap, .chunk_min = options.chunk_min}),
      debt_(options.decode_share, options.prefill_deadline) {
  EVENER_ASSERT(options.max_sequences > 0);
  EVENER_ASSERT(options.prefill_chunk > 0);
  EVENER_ASSERT(options.prompt_logit_rows > 0);
  EVENER_ASSERT(options.chunk_min > 0);
  EVENER_ASSERT(options.depth > 0);
  if (options.max_prefill_steps) streak_.emplace(*options.max_prefill_steps);
}

void Scheduler::set_depth(size_t depth) {
  EVENER_ASSERT(in_flight_.empty());
  EVENER_ASSERT(depth > 0);
  options_.depth = depth;
}

Step Scheduler::next_step(Time now) {
  EVENER_ASSERT(in_flight_.size() < options_.depth);
  if (!in_flight_.empty()) count_as_done(in_flight_.back());
  turn_ = {.issued = now, .contended = is_contended()};
  room_is_awaited_ = false;
  Step step;
  const bool prompts_run = prompts_may_run(now);
  if (!prompts_run || mixes()) add_decodes(now, step);
  if (prompts_run) add_prompt_work(now, step);
  // Steps have one kind, and there was nothing to read:
  if (!turn_.serves_anybody()) add_decodes(now, step);
  if (!turn_.serves_anybody() && in_flight_.empty()) unblock_prompts(now, step);
  take_transfers(step);
  if (!step.empty()) issue(step);
  return step;
}

// Somebody gives tokens, or is about to, and would feel a long step.
bool Scheduler::is_contended() const {
  return std::ranges::any_of(running_, [](const Sequence* s) { return s->is_stream(); });
}

// Who held up streams once has to let them go on before it may do so again: until the debt is paid,
// or, by the bound in steps, when its steps are used up.
bool Scheduler::prompts_may_run(Time now) const {
  // Streams whose rows are in flight will want to go on behind whatever is issued now.
  if (!can_decode() && (in_flight_.empty() || !is_contended())) return true;
  if (streak_) return !streak_->forces_decode();
  if (streams_held_up_ && can_decode()) return false;
  return !debt_.is_owed() ||
         std::ranges::any_of(running_, [&](const Sequence* s) { return is_overdue(*s, now); });
}

// Counted from the prompt's last turn, not from its arrival: else an old giant would run chunk
// after chunk.
bool Scheduler::is_overdue(const Sequence& sequence, Time now) const {
  return sequence.reads_prompt() && now - sequence.last_turn >= options_.prefill_deadline;
}

bool Scheduler::can_decode() const {
  return std::ranges::any_of(running_, [](const Sequence* s) { return s->token_known; });
}

// One row for every stream that has its token, or for its part of them.
void Scheduler::add_decodes(Time now, Step& step) {
  std::vector<Sequence*> decodes;
  do {  // once, but if all who were to go are sent back to make room for others
    decodes = next_decodes();
    make_room_for(decodes, now, step);
  } while (decodes.empty() && can_decode() && !room_is_awaited_);
  for (Sequence* sequence : decodes) {
    const Slice slice{.sequence = sequence->id(),
                      .first_position = sequence->num_issued,
                      .num_tokens = 1,
                      .kind = Slice::Kind::decode,
                      .logits = Slice::Logits::last};
    ++sequence->num_issued;
    sequence->token_known = false;
    add_slice(slice, step);
  }
  turn_.decode_work = turn_.work;
}

// Those who have waited longest, where not all may go.
std::vector<Sequence*> Scheduler::next_decodes() const {
  std::vector<Sequence*> ready;
  for (Sequence* sequence : running_) {
    if (sequence->token_known) ready.push_back(sequence);
  }
  const size_t num_max = decode_rows_max(ready.size());
  if (ready.size() <= num_max) return ready;
  std::ranges::sort(ready, {}, [](const Sequence* s) {
    return std::tuple(s->last_token.value_or(Time::zero()), s->id());
  });
  ready.resize(num_max);
  return ready;
}

// Streams spread evenly over the steps, so that no stage waits for another. But nobody waits for
// that while prompts are read: with a single place left in the pipe, all go.
size_t Scheduler::decode_rows_max(size_t num_ready) const {
  if (options_.depth == 1) return num_ready;
  const auto part = [](size_t count, size_t parts) { return (count + parts - 1) / parts; };
  if (pipe_reads_prompts()) return part(num_ready, options_.depth - in_flight_.size());
  const auto is_stream = [](const Sequence* s) { return s->is_stream(); };
  const auto num_streams = static_cast<size_t>(std::ranges::count_if(running_, is_stream));
  return part(num_streams, options_.depth);
}

bool Scheduler::pipe_reads_prompts() const {
  return std::ranges::any_of(in_flight_, [](const Turn& t) { return t.serves_prompts(); }) ||
         std::ranges::any_of(running_, [](const Sequence* s) { return s->reads_prompt(); });
}

// Admission and restores are work for prompts too: they stall streams like a chunk.
void Scheduler::add_prompt_work(Time now, Step& step) {
  if (room_is_awaited_) return;                  // of which it would take some
  if (step.retracted.empty()) admit(now, step);  // not those who have just made room
  take_transfers(step);
  add_restores(now, step);
  add_prompts(now, step);
}

// What Residency wants moved. Loads may be put off: nobody but their sequence waits for them. So
// may saves of what a load is about to overwrite: the page is its sequence's already. All others go
// at once, since the next row may write to what they read.
void Scheduler::take_transfers(Step& step) {
  const std::vector<cache::Transfer> transfers = residency_.take_transfers();
  std::unordered_map<int32_t, SequenceId> loads_into;  // page -> whose load
  for (const cache::Transfer& transfer : transfers) {
    if (transfer.kind == cache::Transfer::Kind::load_page) {
      loads_into.emplace(transfer.to, transfer.sequence);
    }
  }
  for (const cache::Transfer& transfer : transfers) {
    if (transfer.kind == cache::Transfer::Kind::save_page) ++num_pages_saved_;
    if (transfer.is_load()) {
      sequences_.at(transfer.sequence)->restore.push_back(transfer);
      continue;
    }
    const auto load = loads_into.find(transfer.from);
    if (transfer.kind == cache::Transfer::Kind::save_page && load != loads_into.end()) {
      sequences_.at(load->second)->restore.push_back(transfer);
      continue;
    }
    if (transfer.is_save()) turn_.work.moved_pages += size_pages(transfer);
    step.transfers.push_back(transfer);
  }
}

// Restores, some of it every turn; before streams no more than the limit has room for.
void Scheduler::add_restores(Time now, Step& step) {
  for (Sequence* sequence : running_) {
    while (!sequence->restore.empty()) {
      const cache::Transfer transfer = sequence->restore.front();
      StepWork with_it = turn_.work;
      with_it.moved_pages += size_pages(transfer);
      if (turn_.holds_up_streams() && cost_.predict_high(with_it) > gap_limit()) return;
      turn_.work = with_it;
      turn_.restores.emplace_back(sequence->id(), size_pages(transfer));
      step.transfers.push_back(transfer);
      sequence->restore.pop_front();
      sequence->last_turn = now;
    }
  }
}

// Of a step that holds up streams: what prompts may take, and the decode rows that it carries for
// them. A row that goes into a pipe of `depth` stages has at most depth - 1 steps before it. With
// its own that is a way of 2 depth - 1 stages, each as long as one of them takes for the longest of
// these steps: its whole time divided by depth.
Duration Scheduler::gap_limit() const {
  const auto depth = static_cast<Duration::rep>(options_.depth);
  return options_.max_gap * depth / (2 * depth - 1) + cost_.predict(turn_.decode_work);
}

double Scheduler::size_pages(const cache::Transfer& transfer) const {
  return transfer.key.kind == cache::EntryKey::Kind::state ? options_.state_pages : 1.0;
}

// Chunks of those who read, one each, until the budget is used up.
void Scheduler::add_prompts(Time now, Step& step) {
  size_t tokens_left = prompt_tokens_max();
  size_t logits_left = options_.prompt_logit_rows;
  for (Sequence* sequence : prompts_in_order(now)) {
    const bool all_logits = sequence->arrival.prompt_logits;
    const size_t num_tokens =
        chunk_size(*sequence, all_logits ? std::min(tokens_left, logits_left) : tokens_left);
    if (num_tokens == 0) continue;
    const bool covered = residency_.cover(sequence->id(), sequence->num_issued + num_tokens);
    EVENER_ASSERT(covered);
    tokens_left -= num_tokens;
    if (all_logits) logits_left -= num_tokens;
    add_slice(prompt_slice(*sequence, num_tokens), step);
    sequence->last_turn = now;
  }
}

// Of a step. In a pipe, so few that all that is to be read makes many of them: while it fills and
// drains, stages have nothing to do.
size_t Scheduler::prompt_tokens_max() const {
  if (options_.depth == 1) return options_.prefill_chunk;
  constexpr size_t kStepsAStage = 4;  // at least, but for prompts that are too short for that
  size_t num_to_read = 0;
  for (const Sequence* sequence : running_) {
    if (sequence->reads_prompt()) num_to_read += sequence->num_to_read - sequence->num_matched;
  }
  const size_t num_best = std::min(cost_.best_pipe_chunk(num_to_read, options_.depth),
                                   num_to_read / (kStepsAStage * options_.depth));
  const size_t num_pages = std::max<size_t>(pages_of(num_best), 1);
  return std::min(std::max(num_pages * options_.page_size, options_.chunk_min),
                  options_.prefill_chunk);
}

// The overdue first, longest wait first; then whose client has had least; then by priority and age.
std::vector<Sequence*> Scheduler::prompts_in_order(Time now) const {
  std::vector<Sequence*> prompts;
  for (Sequence* sequence : running_) {
    if (sequence->reads_prompt() && sequence->restore.empty()) prompts.push_back(sequence);
  }
  const auto rank = [&](const Sequence* s) {
    const bool in_time = !is_overdue(*s, now);
    const Arrival& arrival = s->arrival;
    return std::tuple(in_time, in_time ? Time::zero() : s->last_turn,
                      shares_.served(arrival.client), arrival.priority, arrival.arrived, s->id());
  };
  std::ranges::sort(prompts, {}, rank);
  return prompts;
}

// Tokens of the sequence's next chunk, at most num_tokens_max. Before streams as many as keep the
// step within the limit, but for the turn's first work at least as many as are worth a step.
size_t Scheduler::chunk_size(const Sequence& sequence, size_t num_tokens_max) const {
  const size_t num_left = sequence.num_to_read - sequence.num_issued;
  size_t num_tokens = std::min(num_left, num_tokens_max);
  if (!streak_ && turn_.contended) {
    const Slice slice{.first_position = sequence.num_issued, .num_tokens = num_tokens};
    const size_t hoped = cost_.largest_safe_chunk(turn_.work, slice, gap_limit());
    const size_t safe =
        cost_.largest_safe_chunk(work_with_saves(sequence, hoped), slice, gap_limit());
    const size_t least = std::min(cost_.worthwhile_chunk(turn_.work, slice), options_.chunk_min);
    if (safe < least && turn_.serves_prompts()) return 0;
    num_tokens = std::max(safe, least);
  }
  const size_t num_pages =
      residency_.pages(sequence.id()).size() + residency_.num_pages_available();
  const size_t num_positions = num_pages * options_.page_size;
  if (num_positions <= sequence.num_issued) return 0;
  const size_t end = std::min({sequence.num_issued + num_tokens, num_positions,
                               residency_.next_cut(sequence.id(), sequence.num_issued)});
  return end_on_grid(sequence, end) - sequence.num_issued;
}

// The turn's work and the saving of what a chunk of num_tokens would push out of the pool, as often
// as evicted pages had to be saved so far.
StepWork Scheduler::work_with_saves(const Sequence& sequence, size_t num_tokens) const {
  const cache::CacheStats stats = residency_.stats();
  const size_t held = residency_.pages(sequence.id()).size() + stats.pages_free;
  const size_t num_evicted = std::max(pages_of(sequence.num_issued + num_tokens), held) - held;
  StepWork work = turn_.work;
  work.moved_pages += static_cast<double>(num_evicted * num_pages_saved_) /
                      static_cast<double>(std::max<uint64_t>(stats.pages_evicted, 1));
  return work;
}

// Pages that are half full cannot be shared, and snapshots are taken between pages only; where
// they have to be, next_cut() says so. Elsewhere ending there must not cost much of a chunk.
size_t Scheduler::end_on_grid(const Sequence& sequence, size_t position_end) const {
  if (position_end == sequence.num_to_read) return position_end;
  const size_t on_grid = position_end / options_.page_size * options_.page_size;
  const size_t tokens_lost = position_end - on_grid;
  return tokens_lost * kGridShare <= position_end - sequence.num_issued ? on_grid : position_end;
}

Slice Scheduler::prompt_slice(Sequence& sequence, size_t num_tokens) {
  Slice slice{.sequence = sequence.id(),
              .first_position = sequence.num_issued,
              .num_tokens = num_tokens,
              .kind = Slice::Kind::prompt,
              .logits = Slice::Logits::none};
  sequence.num_issued += num_tokens;
  if (sequence.arrival.prompt_logits) {
    slice.logits = Slice::Logits::all;
  } else if (sequence.is_stream()) {
    slice.logits = Slice::Logits::last;
  }
  return slice;
}

void Scheduler::add_slice(const Slice& slice, Step& step) {
  step.slices.push_back(slice);
  turn_.work.add(slice);
}

// Half-read prompts hold all pages, none can go on and there is no stream that could end.
void Scheduler::unblock_prompts(Time now, Step& step) {
  const bool prompts_wait =
      std::ranges::any_of(running_, [](const Sequence* s) { return s->reads_prompt(); });
  while (prompts_wait && !turn_.serves_anybody() && running_.size() > 1) {
    retract(victim(), now, step);
    add_prompts(now, step);
  }
}

void Scheduler::issue(Step& step) {
  step.number = ++counted_.num_steps;
  turn_.slices = step.slices;
  for (const Slice& slice : step.slices) ++sequences_.at(slice.sequence)->num_in_flight;
  counted_.tokens_issued += turn_.work.prompt_tokens + turn_.work.decode_rows;
  // Streams that are in flight were not passed over.
  const bool somebody_waits = in_flight_.empty() || can_decode();
  streams_held_up_ = turn_.holds_up_streams() && turn_.work.decode_rows == 0 && somebody_waits;
  if (streak_ && turn_.serves_prompts()) {
    streak_->prompt_issued();
  } else if (streak_ && turn_.work.decode_rows > 0) {
    streak_->decode_issued();
  }
  // Where the next steps are chosen before this one is done, debts cannot wait for that.
  if (options_.depth > 1) settle_debt(turn_, cost_.predict(turn_.work));
  in_flight_.push_back(std::exchange(turn_, {}));
}

// Steps run one after the other: whatever is issued from now on finds what this one's rows compute.
// Not before its loads are known to have succeeded. So snapshots are taken behind these rows and
// before the next ones.
void Scheduler::count_as_done(Turn& turn) {
  if (std::exchange(turn.counts_as_done, true)) return;
  for (const Slice& slice : turn.slices) {
    if (sequences_.contains(slice.sequence)) {
      residency_.computed(slice.sequence, slice.position_end());
    }
  }
}

}  // namespace evener::sched
