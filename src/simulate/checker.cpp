#include "simulate/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace evener::simulate {
namespace {

constexpr size_t kNumPromptStepsLearned = 30;  // the cost model may be wrong until then
constexpr double kStepTolerance = 1.3;         // of steps against their target
constexpr size_t kTokensJudged = 32;     // fewer a step are hardly told from what it costs anyway
constexpr double kShareTolerance = 0.3;  // of debts: how the cost model divides up a step
constexpr double kPipeShareTolerance = 0.8;  // where it does not see what a step takes by itself

}  // namespace

// Times are as the table says, so that rules about time can be checked to the letter.
size_t ChosenStep::last_prompt_position() const {
  size_t last = 0;
  for (const sched::Slice& slice : step.slices) {
    if (slice.kind == sched::Slice::Kind::prompt) last = std::max(last, slice.position_end());
  }
  return last;
}

bool Checker::is_calm() const {
  const Workload& workload = *subject_.workload;
  return workload.faults.clock_jumps == 0 && workload.table.slow_steps == 0 &&
         workload.table.noise < 0.05;
}

size_t Checker::num_with(Fate fate) const {
  return static_cast<size_t>(std::ranges::count(*subject_.lives, fate, &Life::fate));
}

// How much of the newcomer's tokens anybody of the same salt has had before, itself included.
size_t Checker::longest_known_prefix(const Life& newcomer) const {
  const auto tokens = newcomer.history.tokens().first(newcomer.num_known);
  size_t longest = 0;
  for (const Life& other : *subject_.lives) {
    if (other.num_admissions == 0 || other.request->salt != newcomer.request->salt) continue;
    const auto known = other.history.tokens().first(other.num_known);
    const auto [mine, theirs] = std::ranges::mismatch(tokens, known);
    longest = std::max(longest, static_cast<size_t>(mine - tokens.begin()));
  }
  return longest;
}

void Checker::admitted(const Life& newcomer, const cache::Match& match) {
  verdict_.expect(Invariant::S8, match.num_tokens <= longest_known_prefix(newcomer), [&] {
    return fmt::format("{} tokens matched, {} known to its salt", match.num_tokens,
                       longest_known_prefix(newcomer));
  });
  check_append(newcomer, match);
}

// A turn that only appends to one that has come to its end, while nothing had to be evicted.
void Checker::check_append(const Life& newcomer, const cache::Match& match) {
  if (newcomer.request->follows == 0 || newcomer.num_admissions > 0) return;
  const Life& before = life(newcomer.request->follows);
  const cache::CacheStats stats = subject_.residency->stats();
  const bool may_lose_all = depth() > 1 && subject_.workload->faults.failed_steps > 0;
  const bool nothing_was_lost = subject_.workload->residency.reuse && !may_lose_all &&
                                stats.pages_evicted == 0 && stats.snapshots_evicted == 0 &&
                                fewest_free_slots_ > 0;
  const bool ran_through = before.fate == Fate::finished && before.num_admissions == 1;
  const bool wants_rows = before.request->prompt_logits || newcomer.request->prompt_logits;
  if (!nothing_was_lost || !ran_through || wants_rows) return;
  const auto said = before.history.tokens().first(before.num_known);
  const auto tokens = newcomer.history.tokens().first(newcomer.num_known);
  const bool appends = before.request->salt == newcomer.request->salt &&
                       tokens.size() > said.size() &&
                       std::ranges::equal(said, tokens.first(said.size()));
  if (!appends) return;
  const size_t num_new = tokens.size() - said.size();
  const size_t num_to_compute = tokens.size() - match.num_tokens;
  const size_t remainder = subject_.workload->residency.page_size;  // grid - 1, and 1
  verdict_.expect(Invariant::E1, num_to_compute <= num_new + remainder, [&] {
    return fmt::format("{} tokens are new, {} are to be computed", num_new, num_to_compute);
  });
}

void Checker::step_chosen(const ChosenStep& chosen, sched::Time now) {
  check_places(chosen);
  check_rows_have_room(chosen);
  check_nobody_else_is_written(chosen);
  check_something_runs(chosen);
  check_pipe_is_full(chosen);
  check_admission_is_prompt(chosen, now);
  check_step_length(chosen);
  check_share(chosen, now);
  check_prompts_are_first(chosen);
  if (depth() > 1)
    charge(chosen, sched::from_seconds(subject_.workload->table.expected(chosen.work)));
}

void Checker::check_places(const ChosenStep& chosen) {
  const sched::Scheduler& scheduler = *subject_.scheduler;
  const bool counts_agree = scheduler.num_running() == num_with(Fate::running) &&
                            scheduler.num_waiting() == num_with(Fate::waiting);
  verdict_.expect(Invariant::S4, counts_agree, [&] {
    return fmt::format("{} run and {} wait, the scheduler counts {} and {}",
                       num_with(Fate::running), num_with(Fate::waiting), scheduler.num_running(),
                       scheduler.num_waiting());
  });
  const size_t limit = subject_.workload->scheduler.max_sequences;
  verdict_.expect(Invariant::S4, scheduler.num_running() <= limit,
                  [&] { return fmt::format("{} run", scheduler.num_running()); });
  std::set<sched::SequenceId> seen;
  for (const sched::Slice& slice : chosen.step.slices) {
    verdict_.expect(Invariant::S4, seen.insert(slice.sequence).second,
                    [&] { return fmt::format("sequence {} has two slices", slice.sequence); });
    verdict_.expect(Invariant::E4, !life(slice.sequence).is_over(),
                    [&] { return fmt::format("sequence {} runs on", slice.sequence); });
  }
}

void Checker::check_rows_have_room(const ChosenStep& chosen) {
  const Workload& workload = *subject_.workload;
  std::set<int32_t> slots;
  for (const sched::Slice& slice : chosen.step.slices) {
    const size_t num_positions =
        subject_.residency->pages(slice.sequence).size() * workload.residency.page_size;
    verdict_.expect(Invariant::S5, slice.position_end() <= num_positions, [&] {
      return fmt::format("sequence {} to position {} with {} covered", slice.sequence,
                         slice.position_end(), num_positions);
    });
    const int32_t slot = subject_.residency->state_slot(slice.sequence);
    const bool has_slot = !workload.is_recurrent() || (slot >= 0 && slots.insert(slot).second);
    verdict_.expect(Invariant::S5, has_slot, [&] {
      return fmt::format("sequence {} has state slot {}", slice.sequence, slot);
    });
    const Life& reader = life(slice.sequence);
    verdict_.expect(Invariant::S5, slice.first_position == reader.num_issued, [&] {
      return fmt::format("sequence {} goes on at {}, not at {}", slice.sequence,
                         slice.first_position, reader.num_issued);
    });
    const bool has_token = slice.kind == sched::Slice::Kind::prompt ||
                           (reader.token_due && slice.position_end() == reader.num_known);
    verdict_.expect(Invariant::S5, has_token, [&] {
      return fmt::format("sequence {} has no token for position {}", slice.sequence,
                         slice.first_position);
    });
  }
}

void Checker::check_nobody_else_is_written(const ChosenStep& chosen) {
  std::map<int32_t, size_t> users;
  const size_t page_size = subject_.workload->residency.page_size;
  for (size_t i = 0; i < subject_.lives->size(); ++i) {
    if ((*subject_.lives)[i].fate != Fate::running) continue;
    for (const int32_t page : subject_.residency->pages(i + 1)) ++users[page];
  }
  for (const sched::Slice& slice : chosen.step.slices) {
    const auto pages = subject_.residency->pages(slice.sequence);
    for (size_t i = slice.first_position / page_size; i * page_size < slice.position_end(); ++i) {
      verdict_.expect(Invariant::S2, users[pages[i]] == 1, [&] {
        return fmt::format("sequence {} writes page {}, which {} use", slice.sequence, pages[i],
                           users[pages[i]]);
      });
    }
  }
}

void Checker::check_something_runs(const ChosenStep& chosen) {
  const size_t num_live = num_with(Fate::running) + num_with(Fate::waiting);
  verdict_.expect(Invariant::L4, !chosen.step.empty() || num_live == 0 || chosen.num_in_flight > 0,
                  [&] { return fmt::format("{} sequences are there", num_live); });
}

// A place in the pipe stays empty only if there is nothing to put into it: all that is to be read
// is in flight and no stream has its token, or something has to wait for room or for its pages.
void Checker::check_pipe_is_full(const ChosenStep& chosen) {
  const Workload& workload = *subject_.workload;
  const bool may_wait = workload.scheduler.max_prefill_steps ||
                        workload.scheduler.decode_share > 0 || workload.num_stored_max > 0;
  if (!chosen.step.empty() || may_wait || subject_.residency->num_pages_available() == 0) return;
  for (size_t i = 0; i < subject_.lives->size(); ++i) {
    const Life& idle = (*subject_.lives)[i];
    const bool has_rows =
        idle.reads_prompt() || (idle.fate == Fate::running && idle.num_issued < idle.num_known);
    verdict_.expect(Invariant::L4, !has_rows, [&] {
      return fmt::format("sequence {} could run beside {} steps in flight", i + 1,
                         chosen.num_in_flight);
    });
  }
}

void Checker::check_prompts_are_first(const ChosenStep& chosen) {
  if (subject_.workload->scheduler.max_prefill_steps != size_t{0}) return;
  if (chosen.work.decode_rows == 0 || subject_.residency->num_pages_available() == 0) return;
  const bool somebody_reads =
      std::ranges::any_of(*subject_.lives, [](const Life& life) { return life.reads_prompt(); });
  verdict_.expect(Invariant::L6, !somebody_reads,
                  [] { return std::string("a decode step, though a prompt could be read"); });
}

size_t Checker::pages_at_most(const Life& life) const {
  const size_t num_tokens = life.request->prompt.size() + life.request->num_new_tokens_max;
  return num_tokens / subject_.workload->residency.page_size + 1;
}

// Whoever of those who wait is next, there is a place, a slot and all pages for it and for all.
bool Checker::all_are_sure_to_fit() const {
  const Workload& workload = *subject_.workload;
  const size_t num_running = num_with(Fate::running);
  if (num_running >= workload.scheduler.max_sequences) return false;
  if (workload.is_recurrent() && num_running >= workload.residency.num_state_slots) return false;
  size_t running = 0;
  size_t waiting = 0;
  for (const Life& life : *subject_.lives) {
    if (life.fate == Fate::running) running += pages_at_most(life);
    if (life.fate == Fate::waiting) waiting = std::max(waiting, pages_at_most(life));
  }
  return waiting > 0 && running + waiting <= workload.residency.num_pages;
}

// At once if there is nobody to hold up; else when what streams are owed is paid.
void Checker::check_admission_is_prompt(const ChosenStep& chosen, sched::Time now) {
  if (!all_are_sure_to_fit() || !chosen.step.retracted.empty()) {
    fitting_since_.reset();
    return;
  }
  if (!fitting_since_) fitting_since_ = now;
  const sched::Duration patience =
      chosen.contended ? subject_.workload->scheduler.prefill_deadline + 3 * longest_step_
                       : sched::Duration::zero();
  const bool in_time = chosen.contended ? now - *fitting_since_ <= patience : false;
  if (subject_.workload->faults.clock_jumps > 0 && chosen.contended) return;
  verdict_.expect(Invariant::L5, in_time, [&] {
    return fmt::format("{} wait, {} run", num_with(Fate::waiting), num_with(Fate::running));
  });
}

// Behind a long step, a short one is seen to take what the last stage takes for it. Where that
// stage has less than its part to do, steps so look shorter than they are.
double Checker::blindness() const {
  return std::max(1.0, 1 / (subject_.workload->stages.back() * static_cast<double>(depth())));
}

// The bound in time is kept by the length of steps.
void Checker::check_step_length(const ChosenStep& chosen) {
  const Workload& workload = *subject_.workload;
  const sched::SchedulerOptions& options = workload.scheduler;
  if (chosen.serves_prompts && !chosen.step.empty()) ++num_prompt_steps_;
  if (options.max_prefill_steps || !is_calm() || !chosen.holds_up_streams()) return;
  if (num_prompt_steps_ < kNumPromptStepsLearned) return;
  if (depth() > 1 && workload.num_stored_max > 0) return;  // moves are seen as the others' waiting
  // A turn may be as long as chunk_min tokens take, or twice as long as it is with one of them.
  const auto with_tokens = [&](size_t num_tokens, double prompt_positions) {
    return workload.table.expected({.prompt_tokens = num_tokens,
                                    .decode_rows = chosen.work.decode_rows,
                                    .prompt_positions = prompt_positions,
                                    .decode_positions = chosen.work.decode_positions,
                                    .moved_pages = options.state_pages});
  };
  const auto last_position = static_cast<double>(chosen.last_prompt_position());
  const double least = std::min(with_tokens(options.chunk_min, chosen.work.prompt_positions),
                                kStepTolerance * 2 * with_tokens(1, last_position));
  // What restores push out is saved with them, however much it is.
  const double saves = workload.table.moved_page * chosen.saved_pages;
  const double part = static_cast<double>(depth()) / static_cast<double>(2 * depth() - 1);
  const double target =
      part * sched::seconds(options.max_gap) + workload.table.expected(chosen.decode_work);
  const double limit = std::max(kStepTolerance * blindness() * target, least);
  const double expected = workload.table.expected(chosen.work);
  verdict_.expect(Invariant::L2, expected - saves <= limit, [&] {
    return fmt::format("step {} of {} prompt tokens and {} decode rows takes {:.3f} s",
                       chosen.step.number, chosen.work.prompt_tokens, chosen.work.decode_rows,
                       expected);
  });
}

// Whoever has a place and something to read, and pages to read it into, has had a turn lately.
void Checker::check_turns(sched::Time now) {
  if (subject_.workload->faults.clock_jumps > 0) return;
  const auto num_running = static_cast<int>(num_with(Fate::running));
  const sched::Duration patience =
      subject_.workload->scheduler.prefill_deadline + 2 * (num_running + 1) * longest_step_;
  if (subject_.residency->num_pages_available() == 0) return;
  for (size_t i = 0; i < subject_.lives->size(); ++i) {
    const Life& reader = (*subject_.lives)[i];
    if (!reader.reads_prompt()) continue;
    verdict_.expect(Invariant::L3, now - reader.last_turn <= patience, [&] {
      return fmt::format("sequence {} has waited {:.3f} s for its next chunk", i + 1,
                         sched::seconds(now - reader.last_turn));
    });
  }
}

// Prompts do not hold up streams again before these have been paid.
void Checker::check_share(const ChosenStep& chosen, sched::Time now) {
  const sched::SchedulerOptions& options = subject_.workload->scheduler;
  if (options.max_prefill_steps || !is_calm() || !chosen.holds_up_streams()) return;
  if (num_prompt_steps_ < kNumPromptStepsLearned || owed_for_tokens_ < kTokensJudged) return;
  const bool somebody_is_overdue = std::ranges::any_of(*subject_.lives, [&](const Life& life) {
    return life.reads_prompt() && now - life.last_turn >= options.prefill_deadline;
  });
  if (somebody_is_overdue) return;
  const double tolerance = depth() > 1 ? kPipeShareTolerance : kShareTolerance;
  verdict_.expect(Invariant::L9, owed_ <= tolerance * (owed_last_ + owed_at_most_), [&] {
    return fmt::format("streams are still owed {:.3f} s of {:.3f} s", owed_, owed_last_);
  });
}

// The content of what the rows are about to build on.
void Checker::rows_begin(const sched::Slice& slice, const FakeDevice::Rows& rows) {
  const Life& reader = life(slice.sequence);
  const size_t position = slice.first_position;
  const auto sum = subject_.device->entry_sum(rows.pages, position);
  verdict_.expect(Invariant::S7, sum == reader.history.entry_sum(position), [&] {
    return fmt::format("pages of sequence {} before position {}", slice.sequence, position);
  });
  if (reader.request->prompt_logits && !reader.is_over()) {
    verdict_.expect(Invariant::S6, position <= reader.num_logits_seen, [&] {
      return fmt::format("sequence {} jumps from the logits of {} to those of {}", slice.sequence,
                         reader.num_logits_seen, position);
    });
  }
  if (!subject_.workload->is_recurrent()) return;
  const uint64_t state = subject_.device->state(rows.state_slot);
  verdict_.expect(Invariant::S7, state == reader.history.state(position), [&] {
    return fmt::format("state of sequence {} at position {}", slice.sequence, position);
  });
}

void Checker::token_given(const Life& reader, TokenId token, sched::SequenceId id) {
  const TokenId right = reader.history.tokens()[reader.num_known];
  verdict_.expect(Invariant::S6, token == right, [&] {
    return fmt::format("token {} of sequence {} is {}, not {}", reader.num_known, id, token, right);
  });
}

void Checker::gap_seen(sched::Duration gap, sched::SequenceId id) {
  const sched::SchedulerOptions& options = subject_.workload->scheduler;
  if (options.max_prefill_steps == size_t{0} || subject_.workload->faults.clock_jumps > 0 ||
      subject_.workload->faults.failed_steps > 0) {
    return;
  }
  const sched::Duration bound = longest_contended_ * options.max_prefill_steps.value_or(1) +
                                longest_decode_ * (depth() > 1 ? 2 : 1) + longest_drain_;
  verdict_.expect(Invariant::L2, gap <= bound, [&] {
    return fmt::format("sequence {} had a gap of {:.3f} s, the bound is {:.3f} s", id,
                       sched::seconds(gap), sched::seconds(bound));
  });
}

void Checker::step_ended(const ChosenStep& chosen, sched::Time began, sched::Time ended) {
  const sched::Duration took = ended - chosen.issued;
  longest_drain_ = std::max(longest_drain_, began - chosen.issued);
  longest_step_ = std::max(longest_step_, took);
  if (chosen.holds_up_streams()) {
    longest_contended_ = std::max(longest_contended_, took);
  } else if (chosen.work.decode_rows > 0) {
    longest_decode_ = std::max(longest_decode_, took);
  }
  if (depth() == 1) charge(chosen, took);
}

void Checker::charge(const ChosenStep& chosen, sched::Duration took) {
  const Workload& workload = *subject_.workload;
  const double share = workload.scheduler.decode_share;
  const double limit = sched::seconds(workload.scheduler.prefill_deadline);
  if (!chosen.serves_prompts) {
    owed_ = std::max(owed_ - sched::seconds(took), 0.0);
  } else if (chosen.contended) {
    double part = 1;
    if (chosen.decode_work.decode_rows > 0) {
      part -= workload.table.expected(chosen.decode_work) / workload.table.expected(chosen.work);
    }
    owed_for_tokens_ = chosen.work.prompt_tokens;
    owed_at_most_ = std::min(share / (1 - share) * sched::seconds(took), limit);
    owed_last_ = std::min(share / (1 - share) * part * sched::seconds(took), limit);
    // In a pipe the small errors of every step would add up.
    owed_ = depth() > 1 ? owed_last_ : std::min(owed_ + owed_last_, limit);
  }
}

void Checker::something_happened(sched::Time now) {
  subject_.residency->check();
  const cache::CacheStats stats = subject_.residency->stats();
  const size_t num_pages =
      stats.pages_private + stats.pages_shared + stats.pages_evictable + stats.pages_free;
  const size_t num_slots = stats.slots_own + stats.slots_snapshot + stats.slots_free;
  verdict_.expect(Invariant::S1,
                  num_pages == subject_.workload->residency.num_pages &&
                      num_slots == subject_.workload->residency.num_state_slots,
                  [&] { return fmt::format("{} pages, {} slots", num_pages, num_slots); });
  if (subject_.workload->is_recurrent()) {
    fewest_free_slots_ = std::min(fewest_free_slots_, stats.slots_free);
  }
  const bool streams_are_there =
      std::ranges::any_of(*subject_.lives, [](const Life& life) { return life.is_stream(); });
  if (!streams_are_there) owed_ = 0;
  check_turns(now);
}

void Checker::all_ended() {
  const cache::CacheStats stats = subject_.residency->stats();
  verdict_.expect(Invariant::S3, stats.pages_private + stats.pages_shared + stats.slots_own == 0,
                  [&] {
                    return fmt::format("{} pages are private, {} in use, {} slots taken",
                                       stats.pages_private, stats.pages_shared, stats.slots_own);
                  });
  for (size_t i = 0; i < subject_.lives->size(); ++i) {
    verdict_.expect(Invariant::L1, (*subject_.lives)[i].is_over(),
                    [&] { return fmt::format("sequence {} has not ended", i + 1); });
  }
}

}  // namespace evener::simulate
