#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "device/device.h"
#include "engine/rank.h"
#include "engine/rank_command.h"
#include "engine/rank_seat.h"
#include "model/rank_memory.h"
#include "parallel/comm_options.h"
#include "parallel/fault.h"
#include "parallel/grid.h"

namespace evener::engine {

// A rank among others with all that it needs: it makes its caches, joins in the self-test of all
// ranks, then does what it is asked until something goes wrong. It shows a sign of life with every
// call of its device. One thread, where not said otherwise.
class SeatedRank {
 public:
  struct Options {
    size_t rank = 0;
    RankSeat seat;
    parallel::RankComms comms;
    model::MemoryPlan memory;
    parallel::CommOptions comm;
    std::optional<parallel::FaultPlan> fault = {};  // on purpose, once the rank is ready
    std::shared_ptr<parallel::HangGate> gate = {};  // of a fault
  };
  explicit SeatedRank(Options options);
  ~SeatedRank() { leave(); }  // what gives memory back may wait, and show signs of life meanwhile

  // On the rank's own thread, which is bound to its device from here on. Errors: as
  // model::RankMemory::create and parallel::self_test, naming the rank; all other ranks hear of it.
  Status set_up();

  // Error: unavailable, naming a rank, which all ranks hear of; does nothing after it.
  Status execute(const RankCommand& command);

  // Of a page and of a state on this rank, once it is ready.
  size_t page_bytes() const { return rank_->page_bytes(); }
  size_t state_bytes() const { return rank_->state_bytes(); }

  // The number in the grid; what its device spends.
  size_t number() const { return options_.rank; }
  WorkTimes* times() const { return options_.seat.times.get(); }

  // While it waits for commands.
  void beat() { comms_->beat(); }

  // Gives back caches and comms: others that wait for this rank hear that it has ended.
  void leave();

  // Any thread: breaks the groups of the rank; how long it has shown no sign of life.
  void break_with(const Error& error);
  std::chrono::nanoseconds silent_for() const { return heartbeats_->silent_for(options_.rank); }

 private:
  Status make_ready();
  Error tell(Error error);

  Options options_;
  std::shared_ptr<parallel::Heartbeats> heartbeats_;
  std::unique_ptr<device::Device> device_;  // the seat's, with a beat before every call
  std::optional<Rank> rank_;
  std::optional<Error> failure_;

  std::mutex mutex_;
  std::unique_ptr<parallel::RankComms> comms_;  // null once it has left
};

}  // namespace evener::engine
