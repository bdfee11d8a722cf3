// Steps: how they are given to the ranks, what becomes of their results, and what follows if there
// are none.
#include <algorithm>
#include <utility>

#include "engine/step_loop.h"

namespace evener::engine {

using Clock = Sequence::Clock;

// Gives the ranks as many steps as they take, then waits for the oldest. False: nothing can run
// until something new happens.
bool StepLoop::run_steps() {
  issue_steps();
  if (in_flight_.empty()) return false;
  finish_oldest();
  // Not to let the first stage wait until everybody has been told:
  if (!in_flight_.empty()) issue_steps();
  return true;
}

void StepLoop::issue_steps() {
  if (condition_.state != Condition::State::serving || stopping_) return;
  while (in_flight_.size() < ranks_.depth() && issue_step()) {
  }
}

// False: there is nothing to do now, or the ranks have failed.
bool StepLoop::issue_step() {
  Clock::time_point begin = Clock::now();
  const sched::Step step = scheduler_.next_step(begin - start_);
  for (const sched::Admission& admission : step.admitted) {
    sequences_.at(admission.sequence)->is_admitted(admission.match, begin);
  }
  if (step.empty()) return false;
  if (!in_flight_.empty() && std::ranges::any_of(step.transfers, &cache::Transfer::is_save)) {
    // Reading waits for all before it: better here, where the results are made use of.
    while (!in_flight_.empty()) {
      if (!finish_oldest()) return false;
    }
    begin = Clock::now();
  }
  in_flight_.push_back({.slices = make_transfers(step), .logits = {}, .began = begin});
  begin_pass(in_flight_.back());
  return true;
}

// Returns the slices that can run: without those of sequences whose pages or state could not be
// loaded.
std::vector<sched::Slice> StepLoop::make_transfers(const sched::Step& step) {
  std::vector<sched::Slice> slices = step.slices;
  std::vector<SequenceId> failed;
  for (const cache::Transfer& transfer : step.transfers) {
    const bool is_lost = std::ranges::find(failed, transfer.sequence) != failed.end();
    if (transfer.is_load() && is_lost) continue;
    if (!transfers_.run(transfer)) failed.push_back(transfer.sequence);
  }
  for (const SequenceId id : failed) {
    scheduler_.load_failed(id, now());
    std::erase_if(slices, [id](const sched::Slice& slice) { return slice.sequence == id; });
  }
  return slices;
}

void StepLoop::begin_pass(Flight& step) {
  if (step.slices.empty()) return;  // it was all transfers
  RankPass pass = builder_.build(step.slices, residency_,
                                 [this](SequenceId id) { return sequences_.at(id)->tokens(); });
  const auto needs = [this](const sched::Slice& slice) { return needs_logits(slice); };
  if (std::ranges::none_of(step.slices, needs)) pass.wanted = Wanted::best_tokens;
  ranks_.begin(pass);
  for (size_t i = 0; i < step.slices.size(); ++i) {
    step.logits.push_back(builder_.logits_of_slice(i));
  }
}

// No token comes between this and the result, so what the sequence needs does not change.
bool StepLoop::needs_logits(const sched::Slice& slice) const {
  switch (slice.logits) {
    case sched::Slice::Logits::none:
      return false;
    case sched::Slice::Logits::last:
      return sequences_.at(slice.sequence)->needs_logits();
    case sched::Slice::Logits::all:
      break;
  }
  return true;
}

// False: the ranks have failed.
bool StepLoop::finish_oldest() {
  const Flight step = std::move(in_flight_.front());
  in_flight_.pop_front();
  if (!step.slices.empty()) {
    const auto result = ranks_.end();
    if (!result) {
      ranks_failed(result.error());
      return false;
    }
    apply(step, **result);
  }
  const Clock::time_point end = Clock::now();
  scheduler_.step_done(step.began - start_, end - start_);
  settle(step.slices);
  ++counted_.steps;
  counted_.step_seconds += sched::seconds(end - std::max(step.began, step_ended_));
  step_ended_ = end;
  return true;
}

void StepLoop::apply(const Flight& step, const PassResult& result) {
  const WorkTimer timer(options_.times, Work::sampling);
  for (size_t i = 0; i < step.slices.size(); ++i) {
    const PassBuilder::LogitRange range = step.logits[i];
    apply(step.slices[i], result.rows(range.first_row, range.num_rows, options_.vocab_size));
  }
}

void StepLoop::apply(const sched::Slice& slice, const ResultRows& rows) {
  const auto it = sequences_.find(slice.sequence);
  if (it == sequences_.end()) return;  // cancelled meanwhile
  Sequence& sequence = *it->second;
  if (slice.kind == sched::Slice::Kind::prompt) {
    counted_.prompt_tokens += slice.num_tokens;
    sequence.read_prompt(
        slice.first_position, slice.position_end(),
        slice.logits == sched::Slice::Logits::all ? rows.logits : std::span<const float>());
  }
  const bool knows_all = slice.position_end() == sequence.tokens().size();
  if (!knows_all || sequence.finished()) return;
  sequence.generate(rows, workspace_);
  if (sequence.tokens().size() == slice.position_end()) return;
  ++counted_.generated_tokens;
  given_.push_back(slice.sequence);
}

// Tells the scheduler what has become of the step's sequences.
void StepLoop::settle(std::span<const sched::Slice> slices) {
  for (const sched::Slice& slice : slices) {
    const auto it = sequences_.find(slice.sequence);
    if (it == sequences_.end()) continue;
    if (it->second->finished()) {
      end(slice.sequence);
    } else {
      touch(slice.sequence);
    }
  }
  for (const SequenceId id : given_) {
    const auto it = sequences_.find(id);
    if (it != sequences_.end()) scheduler_.token_known(id, it->second->tokens().back());
  }
  given_.clear();
}

void StepLoop::touch(SequenceId id) {
  if (std::ranges::find(touched_, id) == touched_.end()) touched_.push_back(id);
}

// What the caches held is lost, and with it everybody who has a place. Those who wait keep theirs,
// while the ranks are made anew on a thread of their own: it may take long, and meanwhile there are
// newcomers, cancels, timeouts and the end.
void StepLoop::ranks_failed(const Error& error) {
  in_flight_.clear();
  for (const SequenceId id : scheduler_.all_failed()) {
    sequences_.at(id)->fail(error);
    end(id);
  }
  set_condition({.state = Condition::State::restarting, .why = error});
  if (stopping_) return;
  publish();
  deliver();                                     // before anybody can see that the ranks run again
  if (restarter_.joinable()) restarter_.join();  // the one before has told how it ended
  restarter_ = std::thread([this] {
    auto outcome = ranks_.restart();
    const std::lock_guard lock(mutex_);
    inbox_.restarted = std::move(outcome);
    work_.notify_one();
  });
}

void StepLoop::restarted(const Result<Restart>& outcome) {
  if (!outcome) {
    if (outcome.error().code == Code::cancelled) return;  // so does whoever waits: it is the end
    set_condition({.state = Condition::State::down, .why = outcome.error()});
    fail_all(outcome.error());
    if (options_.when_down) options_.when_down(outcome.error());
    return;
  }
  if (*outcome == Restart::other_layout && tiers_ != nullptr) tiers_->retire();
  scheduler_.set_depth(ranks_.depth());  // it may be another layout
  set_condition({});
}

void StepLoop::fail_all(const Error& error) {
  while (!sequences_.empty()) {
    sequences_.begin()->second->fail(error);
    end(sequences_.begin()->first);
  }
}

void StepLoop::set_condition(Condition condition) {
  const std::lock_guard lock(mutex_);
  condition_ = std::move(condition);
}

}  // namespace evener::engine
