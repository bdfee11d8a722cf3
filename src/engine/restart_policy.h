#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>

namespace evener::engine {

// How often and how soon ranks that have failed are made anew: at most so many times within an
// hour, and the more often the later. The clock is the caller's.
class RestartPolicy {
 public:
  using Duration = std::chrono::steady_clock::duration;
  static constexpr Duration kWindow = std::chrono::hours(1);

  explicit RestartPolicy(size_t restarts_max) : restarts_max_(restarts_max) {}

  // How long to wait before the restart that is asked for now; none: it may not be. `now` is the
  // time since some start and does not fall.
  std::optional<Duration> next(Duration now);

 private:
  size_t restarts_max_;
  std::deque<Duration> restarts_;  // of the last hour
};

}  // namespace evener::engine
