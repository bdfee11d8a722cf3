#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "base/assert.h"
#include "base/spin.h"

namespace evener {
namespace {

Status pin(pthread_t thread, int cpu) {
  if (cpu >= 0 && cpu < CPU_SETSIZE) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(size_t(cpu), &set);
    if (pthread_setaffinity_np(thread, sizeof set, &set) == 0) return {};
  }
  return Error{.code = Code::invalid_argument,
               .doing = "start threads",
               .where = "cpu " + std::to_string(cpu),
               .why = "this process may not run there",
               .remedy = "see `taskset -p` and the cpuset of the process' cgroup"};
}

}  // namespace

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(std::span<const int> cpus) {
  if (cpus.empty()) {
    return Error{.code = Code::invalid_argument,
                 .doing = "start threads",
                 .where = "",
                 .why = "the list of cpus is empty",
                 .remedy = ""};
  }
  std::unique_ptr<ThreadPool> pool(new ThreadPool);
  pool->first_cpu_ = cpus[0];
  pool->workers_.reserve(cpus.size() - 1);
  for (size_t i = 1; i < cpus.size(); ++i) RETURN_IF_ERROR(pool->start_worker(i, cpus[i]));
  return pool;
}

Status ThreadPool::start_worker(size_t index, int cpu) {
  try {
    workers_.emplace_back([this, index] { work(index); });
  } catch (const std::system_error& error) {
    return Error{.code = Code::unavailable,
                 .doing = "start threads",
                 .where = "thread " + std::to_string(index),
                 .why = error.code().message(),
                 .remedy = "raise the limit on processes (ulimit -u) or use fewer threads"};
  }
  return pin(workers_.back().native_handle(), cpu);
}

Status ThreadPool::pin_caller() const { return pin(pthread_self(), first_cpu_); }

ThreadPool::~ThreadPool() {
  {
    const std::scoped_lock lock(mutex_);
    stop_.store(true);
  }
  work_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(FunctionRef<void(size_t)> body) { run_region(Join::all, body); }

void ThreadPool::parallel_for(size_t count, size_t grain, FunctionRef<void(size_t, size_t)> body) {
  parallel_for(count, grain, [&](size_t begin, size_t end, size_t) { body(begin, end); });
}

void ThreadPool::parallel_for(size_t count, size_t grain,
                              FunctionRef<void(size_t, size_t, size_t)> body) {
  EVENER_ASSERT(grain > 0);
  if (count == 0) return;
  if (count <= grain || workers_.empty()) {
    EVENER_ASSERT(!in_region_.load(std::memory_order_relaxed));
    for (size_t begin = 0; begin < count; begin += grain) {
      body(begin, std::min(begin + grain, count), 0);
    }
    return;
  }

  alignas(64) std::atomic<size_t> next = 0;
  run_region(Join::whoever_comes, [&](size_t thread) {
    for (;;) {
      const size_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= count) return;
      body(begin, std::min(begin + grain, count), thread);
    }
  });
}

void ThreadPool::run_region(Join join, FunctionRef<void(size_t)> body) {
  EVENER_ASSERT(!in_region_.exchange(true, std::memory_order_relaxed));
  if (workers_.empty()) {
    body(0);
  } else {
    open_region(body);
    body(0);
    if (join == Join::all) wait_until_finished(uint32_t(workers_.size()));
    const State closed{state_.fetch_and(~kOpen)};
    wait_until_finished(closed.joined());
  }
  in_region_.store(false, std::memory_order_relaxed);
}

// No worker is in a region here, so the plain writes meet no reader.
void ThreadPool::open_region(const FunctionRef<void(size_t)>& body) {
  body_ = &body;
  finished_.store(0, std::memory_order_relaxed);
  const State last{state_.load(std::memory_order_relaxed)};
  // Sequentially consistent, as in park_worker(): either the worker sees the region before it
  // sleeps, or it is counted here.
  state_.store((uint64_t{last.region() + 1} << 32) | kOpen);
  if (parked_workers_.load() == 0) return;
  {
    const std::scoped_lock lock(mutex_);
  }
  work_.notify_all();
}

void ThreadPool::wait_until_finished(uint32_t parts) {
  const auto finished = [&] { return finished_.load() == parts; };
  if (spin_until(finished)) return;
  std::unique_lock lock(mutex_);
  parked_caller_.store(true);
  done_.wait(lock, finished);
  parked_caller_.store(false);
}

void ThreadPool::work(size_t index) noexcept {
  uint32_t seen = 0;
  while (wait_for_region(seen)) {
    if (!join_region(&seen)) continue;
    (*body_)(index);
    finish_part();
  }
}

// False when the pool ends.
bool ThreadPool::wait_for_region(uint32_t seen) {
  const auto is_new = [&] {
    return State{state_.load(std::memory_order_acquire)}.region() != seen ||
           stop_.load(std::memory_order_relaxed);
  };
  if (!spin_until(is_new)) park_worker(seen);
  return !stop_.load(std::memory_order_relaxed);
}

void ThreadPool::park_worker(uint32_t seen) {
  std::unique_lock lock(mutex_);
  parked_workers_.fetch_add(1);
  work_.wait(lock, [&] { return State{state_.load()}.region() != seen || stop_.load(); });
  parked_workers_.fetch_sub(1);
}

// False if the region was closed before this thread came. `seen` becomes the region it looked at.
bool ThreadPool::join_region(uint32_t* seen) {
  State state{state_.load(std::memory_order_acquire)};
  while (state.open()) {
    if (state_.compare_exchange_weak(state.bits, state.bits + 1)) break;
  }
  *seen = state.region();
  return state.open();
}

// After the add the caller may close the region and open another: nothing of this region is touched
// any more.
void ThreadPool::finish_part() {
  finished_.fetch_add(1);
  if (!parked_caller_.load()) return;
  {
    const std::scoped_lock lock(mutex_);
  }
  done_.notify_one();
}

}  // namespace evener
