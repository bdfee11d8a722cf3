#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/function_ref.h"
#include "base/spin.h"
#include "parallel/comm_options.h"
#include "parallel/heartbeats.h"
#include "parallel/rank_errors.h"

namespace evener::parallel {

// A rank waits for something that another one does.
struct Wait {
  size_t rank = 0;
  size_t peer = 0;
  Call call;
};

// What all ranks of a grid of threads have in common: whether it is broken and why, and a way to
// wait for each other. Whoever uses it shares it, so that a rank that has been given up finds its
// memory when it goes on.
class ThreadGrid {
 public:
  ThreadGrid(size_t num_ranks, const CommOptions& options);

  const CommOptions& options() const { return options_; }
  const RankNames& names() const { return names_; }
  const std::shared_ptr<Heartbeats>& heartbeats() const { return heartbeats_; }

  bool broken() const { return broken_.load(std::memory_order_acquire); }
  Status status() const;

  // The first error stays. Wakes all ranks. From any thread.
  void break_with(Error error);

  // The rank makes no calls from here on.
  void leave(size_t rank);

  // Wakes the rank if it waits. Comes behind a sequentially consistent store of what it may wait
  // for: either the rank sees that before it sleeps, or it is seen here to be parked.
  void wake(size_t rank);

  // From the rank's thread: true once ready(), which looks by sequentially consistent loads; false
  // when the grid is broken, which waiting for a rank that does not come does. Spins first.
  template <class Ready>
  bool wait(const Wait& wait, Ready ready) {
    if (ready()) return true;
    bool is_ready = false;
    if (spins_) spin_until([&] { return (is_ready = ready()) || broken(); });
    return is_ready || (!broken() && park(wait, ready));
  }

 private:
  struct alignas(64) Bed {
    std::atomic<bool> parked = false;
    std::mutex mutex;
    std::condition_variable woken;
  };

  bool park(const Wait& wait, FunctionRef<bool()> ready);
  void look_at_peer(const Wait& wait, Heartbeats::Clock::time_point began);

  CommOptions options_;
  RankNames names_;
  std::shared_ptr<Heartbeats> heartbeats_;
  bool spins_;                              // there is a cpu for every rank
  std::chrono::nanoseconds look_interval_;  // at the rank that a parked one waits for
  std::vector<Bed> beds_;
  alignas(64) std::atomic<bool> broken_ = false;
  mutable std::mutex error_mutex_;
  Error error_;  // behind error_mutex_
};

}  // namespace evener::parallel
