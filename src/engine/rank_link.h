#pragma once

#include <chrono>
#include <cstddef>

#include "base/error.h"
#include "engine/rank_command.h"

namespace evener::engine {

// The first command of every rank, which nobody posts: to be ready.
inline constexpr uint64_t kSetUp = 1;

// A rank as whoever drives it sees it, wherever it runs. It says at the desk how far it is and what
// has gone wrong. After close() it ends as soon as it has done the command that it is at, and says
// that at the desk too; destruction waits for that, unless it has been given up.
class RankLink {
 public:
  virtual ~RankLink() = default;

  // Behind all that was posted before. Does not wait for the rank.
  virtual void post(RankCommand command) = 0;

  // Bytes of a page and of a state on this rank, once it is ready.
  virtual size_t page_bytes() const = 0;
  virtual size_t state_bytes() const = 0;

  // Breaks the groups of the rank, so that nobody waits in them any more.
  virtual void break_with(const Error& error) = 0;

  // How long the rank has shown no sign of life. Any thread.
  virtual std::chrono::nanoseconds silent_for() const = 0;

  virtual void close() = 0;

  // After close(): leaves the rank, which does not end, to itself.
  virtual void give_up() = 0;
};

}  // namespace evener::engine
