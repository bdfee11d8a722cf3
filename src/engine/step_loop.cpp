#include "engine/step_loop.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace evener::engine {
namespace {

using Clock = Sequence::Clock;

// Clocks cannot add an unlimited patience.
constexpr std::chrono::milliseconds kPatienceMax = std::chrono::hours(24 * 365);

}  // namespace

StepLoop::StepLoop(Rank& rank, const Options& options)
    : rank_(rank), options_(options), scheduler_(options.scheduler), residency_(options.residency) {
  publish();  // the totals, for those who ask before the first step
  thread_ = std::thread([this] { run(); });
}

void StepLoop::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    draining_ = true;
    inbox_.stop = true;
  }
  work_.notify_one();
  thread_.join();
}

SequenceId StepLoop::next_id() {
  const std::lock_guard lock(mutex_);
  return ++last_id_;
}

Status StepLoop::submit(std::unique_ptr<Sequence> sequence) {
  {
    const std::lock_guard lock(mutex_);
    if (draining_) {
      return Error{.code = Code::unavailable,
                   .doing = "accept the request",
                   .where = {},
                   .why = "the engine is shutting down",
                   .remedy = {}};
    }
    inbox_.arrivals.push_back(std::move(sequence));
    ++num_live_;
    ++num_requests_;
  }
  work_.notify_one();
  return {};
}

void StepLoop::cancel(SequenceId id) {
  {
    const std::lock_guard lock(mutex_);
    inbox_.cancels.push_back(id);
  }
  work_.notify_one();
}

void StepLoop::drain(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  draining_ = true;
  const auto is_quiet = [this] { return num_live_ == 0; };
  if (quiet_.wait_for(lock, std::min(patience, kPatienceMax), is_quiet)) return;
  inbox_.cancel_all = true;
  work_.notify_one();
  quiet_.wait(lock, is_quiet);
}

Stats StepLoop::stats() const {
  const std::lock_guard lock(mutex_);
  Stats stats = published_;
  stats.requests = num_requests_;
  stats.waiting += inbox_.arrivals.size();
  return stats;
}

void StepLoop::run() noexcept {
  for (;;) {
    Inbox inbox = wait_for_work();
    const bool stop = inbox.stop;
    take_in(std::move(inbox));
    if (stop) cancel_all();
    run_step();
    publish();
    deliver();
    settle();
    if (stop) return;
  }
}

StepLoop::Inbox StepLoop::wait_for_work() {
  std::unique_lock lock(mutex_);
  // Whatever waits can be admitted once nothing runs, so only an empty loop may sleep.
  if (inbox_.empty() && sequences_.empty()) {
    const WorkTimer timer(options_.times, Work::idle);
    work_.wait(lock, [this] { return !inbox_.empty(); });
  }
  published_.waiting += inbox_.arrivals.size();  // they must not be missing until publish()
  return std::exchange(inbox_, {});
}

void StepLoop::take_in(Inbox inbox) {
  for (auto& sequence : inbox.arrivals) {
    scheduler_.add(sequence->arrival());
    sequences_.emplace(sequence->id(), std::move(sequence));
  }
  for (const SequenceId id : inbox.cancels) {
    const auto it = sequences_.find(id);
    if (it == sequences_.end()) continue;
    it->second->cancel();
    ++counted_.cancelled;
    end(id);
  }
  if (inbox.cancel_all) cancel_all();
}

void StepLoop::cancel_all() {
  while (!sequences_.empty()) {
    sequences_.begin()->second->cancel();
    ++counted_.cancelled;
    end(sequences_.begin()->first);
  }
}

void StepLoop::run_step() {
  const sched::Step step = scheduler_.next_step(residency_.room());
  if (step.empty()) return;
  const Clock::time_point begin = Clock::now();
  for (const sched::Slice& slice : step.slices) sequences_.at(slice.sequence)->step_begins(begin);
  prepare(step);
  const RankPass pass = builder_.build(
      step, residency_, [this](SequenceId id) { return sequences_.at(id)->tokens(); });
  apply(step, rank_.run(pass));
  ++counted_.steps;
  counted_.step_seconds += std::chrono::duration<double>(Clock::now() - begin).count();
}

// Gives the step's sequences their places.
void StepLoop::prepare(const sched::Step& step) {
  for (const sched::Admission& admission : step.admitted) {
    const SequenceId id = admission.sequence;
    residency_.admit(id, scheduler_.pages_of(sequences_.at(id)->arrival()));
  }
  for (const sched::Slice& slice : step.slices) {
    residency_.cover(slice.sequence, slice.first_position + slice.num_tokens);
  }
}

void StepLoop::apply(const sched::Step& step, std::span<const float> logits) {
  const WorkTimer timer(options_.times, Work::sampling);
  for (size_t i = 0; i < step.slices.size(); ++i) {
    const PassBuilder::LogitRange range = builder_.logits_of_slice(i);
    apply(step.slices[i], logits.subspan(range.first_row * options_.vocab_size,
                                         range.num_rows * options_.vocab_size));
  }
}

// Lets one sequence use what the step computed for it. Its failing is its own.
void StepLoop::apply(const sched::Slice& slice, std::span<const float> logits) {
  Sequence& sequence = *sequences_.at(slice.sequence);
  const size_t position_end = slice.first_position + slice.num_tokens;
  if (slice.kind == sched::Slice::Kind::prompt) {
    counted_.prompt_tokens += slice.num_tokens;
    sequence.read_prompt(
        slice.first_position, position_end,
        slice.logits == sched::Slice::Logits::all ? logits : std::span<const float>());
  }
  const bool knows_all = position_end == sequence.tokens().size();
  if (knows_all && !sequence.finished()) {
    sequence.generate(logits.last(options_.vocab_size), workspace_);
    if (sequence.tokens().size() > position_end) ++counted_.generated_tokens;
    if (!sequence.finished()) scheduler_.token_known(slice.sequence);
  }
  if (sequence.finished()) return end(slice.sequence);
  touched_.push_back(slice.sequence);
}

// Gives back all that the sequence holds. Its last update comes at the end of the step.
void StepLoop::end(SequenceId id) {
  scheduler_.remove(id);
  residency_.release(id);
  const auto it = sequences_.find(id);
  ended_.push_back(std::move(it->second));
  sequences_.erase(it);
}

// Before the updates go out: who has got a last update finds it counted.
void StepLoop::publish() {
  counted_.running = scheduler_.num_running();
  counted_.waiting = scheduler_.num_waiting();
  counted_.kv_pages_used = residency_.page_pool().num_taken();
  counted_.kv_pages_total = residency_.page_pool().num_pages();
  counted_.state_slots_used = residency_.slot_pool().num_taken();
  counted_.state_slots_total = residency_.slot_pool().num_slots();
  const std::lock_guard lock(mutex_);
  published_ = counted_;
}

void StepLoop::deliver() {
  const Clock::time_point now = Clock::now();
  for (const SequenceId id : touched_) sequences_.at(id)->deliver(now);
  for (const auto& sequence : ended_) sequence->deliver(now);
  touched_.clear();
  ended_.clear();  // the sinks go, before anybody is told that all is quiet
}

void StepLoop::settle() {
  const std::lock_guard lock(mutex_);
  num_live_ = sequences_.size() + inbox_.arrivals.size();
  if (num_live_ == 0) quiet_.notify_all();
}

}  // namespace evener::engine
