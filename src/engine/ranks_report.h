#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace evener::engine {

// How the ranks of a model are, for people and for whoever watches over the server.
struct RanksReport {
  enum class State {
    running,
    degraded,    // running, without ranks that have failed
    restarting,  // nothing is computed
    down,        // nor will be
  } state = State::running;
  std::string layout;  // "cpu:0[0] + cpu:0[1], tp 2 (5:4)"

  struct Rank {
    std::string device;
    size_t stage = 0;
    size_t shard = 0;
    std::chrono::nanoseconds silent_for{};  // since its last sign of life; long without work
  };
  std::vector<Rank> ranks;  // those that compute

  uint64_t num_restarts = 0;
  struct Failure {
    std::string rank;    // "1"; "" if nobody knows which
    std::string device;  // "cpu:0[1]"
    std::string kind;    // "ended", "late", "differs", "device", "other"
    auto operator<=>(const Failure&) const = default;
  };
  std::map<Failure, uint64_t> failures;  // and how often
  std::optional<Failure> last_failure;
  std::string reason;  // of the last failure, or of being down, in one line

  bool can_serve() const { return state == State::running || state == State::degraded; }
};

}  // namespace evener::engine
