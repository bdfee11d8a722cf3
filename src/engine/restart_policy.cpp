#include "engine/restart_policy.h"

#include <algorithm>
#include <array>

namespace evener::engine {
namespace {

using namespace std::chrono_literals;

constexpr std::array<RestartPolicy::Duration, 3> kWaits = {100ms, 1s, 5s};

}  // namespace

std::optional<RestartPolicy::Duration> RestartPolicy::next(Duration now) {
  while (!restarts_.empty() && now - restarts_.front() >= kWindow) restarts_.pop_front();
  if (restarts_.size() >= restarts_max_) return std::nullopt;
  const Duration wait = kWaits[std::min(restarts_.size(), kWaits.size() - 1)];
  restarts_.push_back(now);
  return wait;
}

}  // namespace evener::engine
