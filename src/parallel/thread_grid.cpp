#include "parallel/thread_grid.h"

#include <sched.h>

#include <algorithm>
#include <utility>

namespace evener::parallel {
namespace {

size_t num_cpus_allowed() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return size_t(CPU_COUNT(&set));
}

}  // namespace

ThreadGrid::ThreadGrid(size_t num_ranks, const CommOptions& options)
    : options_(options),
      names_(num_ranks, options.names),
      heartbeats_(std::make_shared<Heartbeats>(num_ranks)),
      spins_(num_cpus_allowed() >= num_ranks),
      look_interval_(std::clamp<std::chrono::nanoseconds>(
          options.deadline / 10, std::chrono::milliseconds(1), std::chrono::milliseconds(200))),
      beds_(num_ranks) {}

Status ThreadGrid::status() const {
  if (!broken()) return {};
  const std::scoped_lock lock(error_mutex_);
  return error_;
}

void ThreadGrid::break_with(Error error) {
  {
    const std::scoped_lock lock(error_mutex_);
    if (broken_.load()) return;
    error_ = std::move(error);
    broken_.store(true);
  }
  for (size_t rank = 0; rank < beds_.size(); ++rank) wake(rank);
}

void ThreadGrid::leave(size_t rank) { break_with(ended_rank(names_, rank)); }

void ThreadGrid::wake(size_t rank) {
  Bed& bed = beds_[rank];
  if (!bed.parked.load()) return;
  {
    const std::scoped_lock lock(bed.mutex);
  }
  bed.woken.notify_one();
}

bool ThreadGrid::park(const Wait& wait, FunctionRef<bool()> ready) {
  Bed& bed = beds_[wait.rank];
  const auto began = Heartbeats::Clock::now();
  heartbeats_->begin_wait(wait.rank, wait.peer);
  std::unique_lock lock(bed.mutex);
  bed.parked.store(true);
  while (!ready() && !broken_.load()) {
    if (bed.woken.wait_for(lock, look_interval_) == std::cv_status::no_timeout) continue;
    heartbeats_->beat(wait.rank);
    lock.unlock();
    look_at_peer(wait, began);
    lock.lock();
  }
  bed.parked.store(false);
  heartbeats_->end_wait(wait.rank);
  return !broken();
}

void ThreadGrid::look_at_peer(const Wait& wait, Heartbeats::Clock::time_point began) {
  const auto now = Heartbeats::Clock::now();
  const auto silent_for = now - std::max(began, heartbeats_->last(wait.peer));
  if (silent_for >= options_.deadline) {
    return break_with(late_rank(names_, {.rank = wait.rank,
                                         .peer = wait.peer,
                                         .call = wait.call,
                                         .pass = heartbeats_->pass(wait.rank),
                                         .silent_for = silent_for}));
  }
  if (now - began < options_.deadline) return;
  const auto circle = heartbeats_->circle(wait.rank, options_.deadline);
  if (!circle.empty()) break_with(stuck_circle(names_, circle, wait.call));
}

}  // namespace evener::parallel
