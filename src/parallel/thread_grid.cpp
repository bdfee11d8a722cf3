#include "parallel/thread_grid.h"

#include <sched.h>

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
    : health_(num_ranks, options), spins_(num_cpus_allowed() >= num_ranks), beds_(num_ranks) {}

void ThreadGrid::break_with(Error error) {
  if (!health_.break_with(std::move(error))) return;
  for (size_t rank = 0; rank < beds_.size(); ++rank) wake(rank);
}

void ThreadGrid::leave(size_t rank) { break_with(ended_rank(names(), rank)); }

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
  heartbeats()->begin_wait(wait.rank, wait.peer);
  std::unique_lock lock(bed.mutex);
  bed.parked.store(true);
  while (!ready() && !broken()) {
    if (bed.woken.wait_for(lock, health_.look_interval()) == std::cv_status::no_timeout) continue;
    heartbeats()->beat(wait.rank);
    lock.unlock();
    if (auto error = health_.judge(wait, began)) break_with(*std::move(error));
    lock.lock();
  }
  bed.parked.store(false);
  heartbeats()->end_wait(wait.rank);
  return !broken();
}

}  // namespace evener::parallel
