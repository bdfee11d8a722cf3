#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/function_ref.h"
#include "base/spin.h"
#include "parallel/grid_health.h"

namespace evener::parallel {

// What all ranks of a grid of threads have in common: whether it is broken and why, and a way to
// wait for each other. Whoever uses it shares it, so that a rank that has been given up finds its
// memory when it goes on.
class ThreadGrid {
 public:
  ThreadGrid(size_t num_ranks, const CommOptions& options);

  const CommOptions& options() const { return health_.options(); }
  const RankNames& names() const { return health_.names(); }
  const std::shared_ptr<Heartbeats>& heartbeats() const { return health_.heartbeats(); }

  bool broken() const { return health_.broken(); }
  Status status() const { return health_.status(); }

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

  GridHealth health_;
  bool spins_;  // there is a cpu for every rank
  std::vector<Bed> beds_;
};

}  // namespace evener::parallel
