#include "engine/step_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace evener::engine {
namespace {

using Clock = Sequence::Clock;
using namespace std::chrono_literals;

// Clocks cannot add an unlimited patience.
constexpr std::chrono::milliseconds kPatienceMax = std::chrono::hours(24 * 365);

// Who waits hears of a change no more often: a long queue moves on with every answer.
constexpr auto kQueueNews = 250ms;

Error has_no_place(std::string why) {
  return {.code = Code::unavailable,
          .doing = "accept the request",
          .where = {},
          .why = std::move(why),
          .remedy = "try again later"};
}

StepLoop::Options at_depth(StepLoop::Options options, size_t depth) {
  options.scheduler.depth = depth;
  return options;
}

std::string queue_is_full(size_t num_waiting) {
  return fmt::format("{} requests are waiting already, as many as may", num_waiting);
}

}  // namespace

StepLoop::StepLoop(Ranks& ranks, cache::Tiers* tiers, const Options& options)
    : ranks_(ranks),
      options_(at_depth(options, ranks.depth())),
      tiers_(tiers),
      residency_(options.residency, tiers),
      scheduler_(options_.scheduler, residency_),
      transfers_(ranks, tiers) {
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
  ranks_.interrupt();
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
    if (condition_.state == Condition::State::down) return *condition_.why;
    // The scheduler has the last word; this spares a crowd the way there. Who is urgent may take
    // somebody else's place.
    const size_t num_free_places = options_.scheduler.max_sequences - published_.running;
    const size_t num_waiting = published_.waiting + inbox_.arrivals.size();
    if (sequence->priority() >= 0 && num_waiting >= num_free_places &&
        num_waiting - num_free_places >= options_.scheduler.max_queued) {
      return has_no_place(queue_is_full(num_waiting));
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
    inbox_.cancels.push_back({.id = id, .asked = Clock::now()});
  }
  work_.notify_one();
}

void StepLoop::flush_cache() {
  {
    const std::lock_guard lock(mutex_);
    inbox_.flush_cache = true;
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
  ranks_.interrupt();
  quiet_.wait(lock, is_quiet);
}

Stats StepLoop::stats() const {
  const std::lock_guard lock(mutex_);
  Stats stats = published_;
  stats.ranks = ranks_.report();
  stats.requests = num_requests_;
  stats.waiting += inbox_.arrivals.size();
  return stats;
}

StepLoop::Condition StepLoop::condition() const {
  const std::lock_guard lock(mutex_);
  return condition_;
}

void StepLoop::run() noexcept {
  bool may_have_work = true;
  for (;;) {
    Inbox inbox = wait_for_work(may_have_work);
    const bool stop = inbox.stop;
    take_in(std::move(inbox));
    if (stop) end_all();
    may_have_work = run_steps();
    let_go_of_expired();  // after the step: whoever it gave a place had not waited too long
    tell_queue();
    if (stop) save_cache();
    publish();
    deliver();
    note_quiet();
    if (stop) break;
  }
  if (restarter_.joinable()) restarter_.join();
}

StepLoop::Inbox StepLoop::wait_for_work(bool may_have_work) {
  std::unique_lock lock(mutex_);
  if (inbox_.empty() && !may_have_work) {
    // While ranks are made anew, the times are theirs.
    const bool serves = condition_.state != Condition::State::restarting;
    const WorkTimer timer(serves ? options_.times : nullptr, Work::idle);
    const auto has_news = [this] { return !inbox_.empty(); };
    if (const auto wake_at = scheduler_.wake_at()) {
      work_.wait_until(lock, start_ + *wake_at, has_news);
    } else {
      work_.wait(lock, has_news);
    }
  }
  published_.waiting += inbox_.arrivals.size();  // they must not be missing until publish()
  return std::exchange(inbox_, {});
}

void StepLoop::take_in(Inbox inbox) {
  if (inbox.restarted) restarted(*inbox.restarted);
  for (auto& sequence : inbox.arrivals) add(std::move(sequence));
  for (const Cancel& asked : inbox.cancels) cancel(asked);
  if (inbox.cancel_all) cancel_all();
  if (inbox.flush_cache) residency_.flush();
  // Who came before it was known:
  if (condition_.state == Condition::State::down) fail_all(*condition_.why);
}

void StepLoop::add(std::unique_ptr<Sequence> sequence) {
  const SequenceId id = sequence->id();
  const sched::Added added = scheduler_.add(sequence->arrival(start_));
  sequences_.emplace(id, std::move(sequence));
  if (added.displaced != 0) refuse(added.displaced, "a more urgent request took its place");
  switch (added.outcome) {
    case sched::AddOutcome::queued:
      return;
    case sched::AddOutcome::queue_full:
      return refuse(id, queue_is_full(scheduler_.num_waiting()));
    case sched::AddOutcome::too_large:  // request_check has seen to that
      break;
  }
  EVENER_ASSERT(false);
}

// It has not run and never will.
void StepLoop::refuse(SequenceId id, std::string why) {
  sequences_.at(id)->fail(has_no_place(std::move(why)));
  ++counted_.refused;
  end(id);
}

void StepLoop::cancel(const Cancel& asked) {
  const auto it = sequences_.find(asked.id);
  if (it == sequences_.end()) return;
  it->second->cancel();
  end(asked.id);
  ++counted_.cancelled;
  counted_.cancel_seconds_max =
      std::max(counted_.cancel_seconds_max, sched::seconds(Clock::now() - asked.asked));
}

void StepLoop::cancel_all() {
  while (!sequences_.empty()) {
    cancel({.id = sequences_.begin()->first, .asked = Clock::now()});
  }
}

// At the end: nobody waits for what is in flight, but it has to be over.
void StepLoop::end_all() {
  stopping_ = true;
  cancel_all();
  while (!in_flight_.empty()) finish_oldest();
}

void StepLoop::let_go_of_expired() {
  for (const SequenceId id : scheduler_.expired(now())) {
    refuse(id, fmt::format("no place became free within {} s",
                           sched::seconds(options_.scheduler.queue_timeout)));
  }
}

// Those who wait, when the queue has changed.
void StepLoop::tell_queue() {
  if (scheduler_.num_waiting() == 0 && told_queue_.empty()) return;
  const Clock::time_point now = Clock::now();
  if (now - queue_told_ < kQueueNews) return;
  std::vector<SequenceId> queue = scheduler_.waiting_ids();
  if (queue == told_queue_) return;
  for (size_t i = 0; i < queue.size(); ++i) {
    sequences_.at(queue[i])->waits(i);
    touch(queue[i]);
  }
  told_queue_ = std::move(queue);
  queue_told_ = now;
}

// So that the next start finds it.
void StepLoop::save_cache() {
  if (tiers_ == nullptr || condition_.state != Condition::State::serving) return;
  residency_.save_all();
  for (const cache::Transfer& transfer : residency_.take_transfers()) {
    if (transfer.is_save()) {
      transfers_.save(transfer, cache::WhenBusy::wait);
    } else if (!transfer.is_load()) {  // nobody waits for loads any more
      const bool done = transfers_.run(transfer);
      EVENER_ASSERT(done);
    }
  }
  tiers_->finish();
}

// Gives back all that the sequence holds. Its last update comes at the end of the step.
void StepLoop::end(SequenceId id) {
  scheduler_.remove(id);
  std::erase(touched_, id);
  const auto it = sequences_.find(id);
  ended_.push_back(std::move(it->second));
  sequences_.erase(it);
}

// Before the updates go out: who has got a last update finds it counted.
void StepLoop::publish() {
  counted_.running = scheduler_.num_running();
  counted_.waiting = scheduler_.num_waiting();
  counted_.scheduler = scheduler_.stats();
  counted_.cache = residency_.stats();
  if (tiers_ != nullptr) counted_.tiers = tiers_->stats();
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

void StepLoop::note_quiet() {
  const std::lock_guard lock(mutex_);
  num_live_ = sequences_.size() + inbox_.arrivals.size();
  if (num_live_ == 0) quiet_.notify_all();
}

}  // namespace evener::engine
