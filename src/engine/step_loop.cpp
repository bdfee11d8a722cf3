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

std::string queue_is_full(size_t num_waiting) {
  return fmt::format("{} requests are waiting already, as many as may", num_waiting);
}

}  // namespace

StepLoop::StepLoop(Ranks& ranks, cache::Tiers* tiers, const Options& options)
    : ranks_(ranks),
      options_(options),
      tiers_(tiers),
      residency_(options.residency, tiers),
      scheduler_(options.scheduler, residency_),
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
    if (down_) return *down_;
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
  stats.requests = num_requests_;
  stats.waiting += inbox_.arrivals.size();
  return stats;
}

void StepLoop::run() noexcept {
  bool may_have_work = true;
  for (;;) {
    Inbox inbox = wait_for_work(may_have_work);
    const bool stop = inbox.stop;
    take_in(std::move(inbox));
    if (stop) cancel_all();
    may_have_work = run_step();
    let_go_of_expired();  // after the step: whoever it gave a place had not waited too long
    tell_queue();
    if (stop) save_cache();
    publish();
    deliver();
    note_quiet();
    if (stop) return;
  }
}

StepLoop::Inbox StepLoop::wait_for_work(bool may_have_work) {
  std::unique_lock lock(mutex_);
  if (inbox_.empty() && !may_have_work) {
    const WorkTimer timer(options_.times, Work::idle);
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
  for (auto& sequence : inbox.arrivals) add(std::move(sequence));
  for (const Cancel& asked : inbox.cancels) cancel(asked);
  if (inbox.cancel_all) cancel_all();
  if (inbox.flush_cache) residency_.flush();
  if (down_) fail_all(*down_);  // who came before it was known
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

// False: nothing can run until something new happens.
bool StepLoop::run_step() {
  const Clock::time_point begin = Clock::now();
  const sched::Step step = scheduler_.next_step(begin - start_);
  for (const sched::Admission& admission : step.admitted) {
    sequences_.at(admission.sequence)->is_admitted(admission.match, begin);
  }
  if (step.empty()) return false;
  const std::vector<sched::Slice> slices = make_transfers(step);
  if (!slices.empty() && !compute(slices)) return true;
  const Clock::time_point end = Clock::now();
  scheduler_.step_done(begin - start_, end - start_);
  settle(slices);
  ++counted_.steps;
  counted_.step_seconds += sched::seconds(end - begin);
  return true;
}

void StepLoop::let_go_of_expired() {
  for (const SequenceId id : scheduler_.expired(now())) {
    refuse(id, fmt::format("no place became free within {} s",
                           sched::seconds(options_.scheduler.queue_timeout)));
  }
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

// False: the ranks have failed.
bool StepLoop::compute(std::span<const sched::Slice> slices) {
  const RankPass pass = builder_.build(
      slices, residency_, [this](SequenceId id) { return sequences_.at(id)->tokens(); });
  ranks_.begin(pass);
  const auto logits = ranks_.end();
  if (!logits) {
    ranks_failed(logits.error());
    return false;
  }
  apply(slices, *logits);
  return true;
}

// What the caches held is lost, and with it everybody who has a place. Those who wait keep theirs.
void StepLoop::ranks_failed(const Error& error) {
  const std::vector<SequenceId> waiting = scheduler_.waiting_ids();
  scheduler_.step_failed(now());
  for (auto it = sequences_.begin(); it != sequences_.end();) {
    Sequence& sequence = *(it++)->second;
    if (std::ranges::find(waiting, sequence.id()) != waiting.end()) continue;
    sequence.fail(error);
    end(sequence.id());
  }
  residency_.flush();
  residency_.take_transfers();  // into or out of what is lost
  publish();
  deliver();  // before the restart, which may take a while
  const Status restarted = ranks_.restart();
  if (restarted) return;
  {
    const std::lock_guard lock(mutex_);
    down_ = restarted.error();
  }
  fail_all(restarted.error());
}

void StepLoop::fail_all(const Error& error) {
  while (!sequences_.empty()) {
    sequences_.begin()->second->fail(error);
    end(sequences_.begin()->first);
  }
}

void StepLoop::apply(std::span<const sched::Slice> slices, std::span<const float> logits) {
  const WorkTimer timer(options_.times, Work::sampling);
  for (size_t i = 0; i < slices.size(); ++i) {
    const PassBuilder::LogitRange range = builder_.logits_of_slice(i);
    apply(slices[i], logits.subspan(range.first_row * options_.vocab_size,
                                    range.num_rows * options_.vocab_size));
  }
}

void StepLoop::apply(const sched::Slice& slice, std::span<const float> logits) {
  Sequence& sequence = *sequences_.at(slice.sequence);
  if (slice.kind == sched::Slice::Kind::prompt) {
    counted_.prompt_tokens += slice.num_tokens;
    sequence.read_prompt(
        slice.first_position, slice.position_end(),
        slice.logits == sched::Slice::Logits::all ? logits : std::span<const float>());
  }
  const bool knows_all = slice.position_end() == sequence.tokens().size();
  if (!knows_all || sequence.finished()) return;
  sequence.generate(logits.last(options_.vocab_size), workspace_);
  if (sequence.tokens().size() == slice.position_end()) return;
  ++counted_.generated_tokens;
  given_.push_back(slice.sequence);
}

// Tells the scheduler what has become of the step's sequences.
void StepLoop::settle(std::span<const sched::Slice> slices) {
  for (const sched::Slice& slice : slices) {
    if (sequences_.at(slice.sequence)->finished()) {
      end(slice.sequence);
    } else {
      touched_.push_back(slice.sequence);
    }
  }
  for (const SequenceId id : given_) {
    const auto it = sequences_.find(id);
    if (it != sequences_.end()) scheduler_.token_known(id, it->second->tokens().back());
  }
  given_.clear();
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
    touched_.push_back(queue[i]);
  }
  told_queue_ = std::move(queue);
  queue_told_ = now;
}

// So that the next start finds it.
void StepLoop::save_cache() {
  if (tiers_ == nullptr) return;
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
