#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>

#include "base/error.h"
#include "engine/rank_command.h"
#include "engine/rank_desk.h"
#include "engine/rank_seat.h"
#include "model/rank_memory.h"
#include "parallel/comm_options.h"
#include "parallel/fault.h"
#include "parallel/grid.h"

namespace evener::engine {

// The first command of every rank: to be ready.
inline constexpr uint64_t kSetUp = 1;

// A rank on a thread of its own, on its device's cores. It makes its memory, joins in the self-test
// of all ranks, then does what it is asked, in order, and says so at the desk. After the first
// failure it does nothing more.
class RankThread {
 public:
  struct Options {
    size_t rank = 0;
    RankSeat seat;
    parallel::RankComms comms;
    model::MemoryPlan memory;
    std::shared_ptr<RankDesk> desk;
    parallel::CommOptions comm;
    std::optional<parallel::FaultPlan> fault = {};  // on purpose, once the rank is ready
    std::shared_ptr<parallel::HangGate> gate = {};  // of a fault
  };
  explicit RankThread(Options options);

  // Waits for the thread if it has been told to end and has not been given up.
  ~RankThread();
  RankThread(RankThread&&) noexcept;

  // Behind all that was posted before.
  void post(RankCommand command);

  // Bytes of a page and of a state on this rank, once it is ready.
  size_t page_bytes() const;
  size_t state_bytes() const;

  // Breaks the groups of the rank, so that nobody waits in them any more.
  void break_with(const Error& error);
  // How long the rank has shown no sign of life.
  std::chrono::nanoseconds silent_for() const;

  // Lets the thread end after the command that it is at.
  void close();
  // After close(): leaves the thread, which does not end, to itself. What it uses stays.
  void give_up();

 private:
  class Body;
  std::shared_ptr<Body> body_;
  std::thread thread_;
};

}  // namespace evener::engine
