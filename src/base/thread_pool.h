#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/function_ref.h"

namespace evener {

// A fixed team of threads for short parallel regions. The caller of a region is thread 0 and works
// too; the others are pinned to a cpu each, spin for kSpinTime after a region and then sleep, so an
// idle pool costs nothing and a busy one starts a region in about a microsecond.
//
// One region at a time: regions are started by one thread (the owner's), and starting one inside
// another aborts. Bodies must not throw. Nothing is allocated per region. What a region wrote is
// visible to the caller when it returns, and to later regions.
class ThreadPool {
 public:
  // One thread for each entry of `cpus` (numbers of the operating system, which may repeat). The
  // first entry stands for the caller, which is left where it is until pin_caller(): threads
  // started by a pinned thread inherit its cpu. Errors: invalid_argument (no cpu, one outside this
  // process' affinity mask), unavailable (the system gives no more threads).
  static Result<std::unique_ptr<ThreadPool>> create(std::span<const int> cpus);

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  size_t num_threads() const { return workers_.size() + 1; }

  // Pins the calling thread, which is to start the regions, to the first cpu. Error:
  // invalid_argument (this process may not run there).
  Status pin_caller() const;

  // Calls body(thread_index) once on every thread, 0 being the caller; returns when all are done.
  void run(FunctionRef<void(size_t)> body);

  // Calls body(begin, end) for neighbouring ranges of at most `grain` that cover [0, count). Who
  // gets which range is decided by who is free; a thread that wakes up too late is not waited for.
  void parallel_for(size_t count, size_t grain, FunctionRef<void(size_t, size_t)> body);

  // The same with the thread's index behind the range, for bodies with a scratch room per thread.
  void parallel_for(size_t count, size_t grain, FunctionRef<void(size_t, size_t, size_t)> body);

 private:
  enum class Join { all, whoever_comes };

  // A worker's view of state_: which region, may it still be joined, how many workers have.
  struct State {
    uint64_t bits = 0;
    uint32_t region() const { return uint32_t(bits >> 32); }
    bool open() const { return (bits & kOpen) != 0; }
    uint32_t joined() const { return uint32_t(bits & (kOpen - 1)); }
  };
  static constexpr uint64_t kOpen = uint64_t{1} << 31;

  ThreadPool() = default;
  Status start_worker(size_t index, int cpu);
  void work(size_t index) noexcept;
  bool wait_for_region(uint32_t seen);
  void park_worker(uint32_t seen);
  bool join_region(uint32_t* seen);
  void finish_part();
  void run_region(Join join, FunctionRef<void(size_t)> body);
  void open_region(const FunctionRef<void(size_t)>& body);
  void wait_until_finished(uint32_t parts);

  int first_cpu_ = 0;
  std::vector<std::thread> workers_;

  // Written by the caller while no worker is in a region, read by workers that joined.
  const FunctionRef<void(size_t)>* body_ = nullptr;
  std::atomic<bool> in_region_ = false;

  alignas(64) std::atomic<uint64_t> state_ = 0;     // see State
  alignas(64) std::atomic<uint32_t> finished_ = 0;  // workers done with the open region
  alignas(64) std::atomic<uint32_t> parked_workers_ = 0;
  std::atomic<bool> parked_caller_ = false;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
};

}  // namespace evener
