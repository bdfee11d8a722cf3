#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

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

// Whether a grid of ranks still works, and if not, why. Any thread.
class GridHealth {
 public:
  GridHealth(size_t num_ranks, const CommOptions& options);

  const CommOptions& options() const { return options_; }
  const RankNames& names() const { return names_; }
  const std::shared_ptr<Heartbeats>& heartbeats() const { return heartbeats_; }

  bool broken() const { return broken_.load(); }
  Status status() const;

  // The first error stays; says whether it is this one.
  bool break_with(Error error);

  // What is wrong with the rank that another has waited for since `began`: silent for the deadline,
  // or itself waiting in a circle. None while there is hope.
  std::optional<Error> judge(const Wait& wait, Heartbeats::Clock::time_point began) const;

  // How often a waiting rank asks so.
  std::chrono::nanoseconds look_interval() const { return look_interval_; }

 private:
  CommOptions options_;
  RankNames names_;
  std::shared_ptr<Heartbeats> heartbeats_;
  std::chrono::nanoseconds look_interval_;
  alignas(64) std::atomic<bool> broken_ = false;
  mutable std::mutex mutex_;
  Error error_;  // behind mutex_
};

}  // namespace evener::parallel
