#include "parallel/grid_health.h"

#include <algorithm>
#include <utility>

namespace evener::parallel {

GridHealth::GridHealth(size_t num_ranks, const CommOptions& options)
    : options_(options),
      names_(num_ranks, options.names),
      heartbeats_(std::make_shared<Heartbeats>(num_ranks)),
      look_interval_(std::clamp<std::chrono::nanoseconds>(
          options.deadline / 10, std::chrono::milliseconds(1), std::chrono::milliseconds(200))) {}

Status GridHealth::status() const {
  if (!broken()) return {};
  const std::scoped_lock lock(mutex_);
  return error_;
}

bool GridHealth::break_with(Error error) {
  const std::scoped_lock lock(mutex_);
  if (broken_.load()) return false;
  error_ = std::move(error);
  broken_.store(true);
  return true;
}

std::optional<Error> GridHealth::judge(const Wait& wait,
                                       Heartbeats::Clock::time_point began) const {
  const auto now = Heartbeats::Clock::now();
  const auto silent_for = now - std::max(began, heartbeats_->last(wait.peer));
  if (silent_for >= options_.deadline) {
    return late_rank(names_, {.rank = wait.rank,
                              .peer = wait.peer,
                              .call = wait.call,
                              .pass = heartbeats_->pass(wait.rank),
                              .silent_for = silent_for});
  }
  if (now - began < options_.deadline) return std::nullopt;
  const auto circle = heartbeats_->circle(wait.rank, options_.deadline);
  if (circle.empty()) return std::nullopt;
  return stuck_circle(names_, circle, wait.call);
}

}  // namespace evener::parallel
