#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/choose_link.h"
#include "engine/rank_desk.h"
#include "engine/rank_link.h"
#include "engine/rank_seat.h"
#include "model/rank_memory.h"
#include "parallel/fault.h"
#include "parallel/mpi/mpi_world.h"

namespace evener::engine {

// All ranks of a model from the time that they are connected until the first failure, which is the
// end of the team. One thread.
class RankTeam {
 public:
  struct Options {
    model::MemoryPlan memory;
    std::chrono::milliseconds deadline{10000};          // ParallelOptions::rank_deadline
    device::PeerUse peer = device::PeerUse::automatic;  // ParallelOptions::peer
    std::optional<parallel::FaultPlan> fault = {};
    std::shared_ptr<parallel::HangGate> gate = {};
  };

  // Connects the ranks, each with caches of its own, and tests that numbers reach them as they
  // were sent. Errors: as model::RankMemory::create and parallel::self_test, naming the rank.
  static Result<std::unique_ptr<RankTeam>> start(const RankSeats& seats, const Options& options);

  // The same over processes, from process 0: its own rank on a thread, the others where
  // serve_commands() runs. Only the first seat is taken here. The world outlives the team.
  static Result<std::unique_ptr<RankTeam>> start(parallel::MpiWorld& world, const RankSeats& seats,
                                                 const Options& options);

  // As retire().
  ~RankTeam();

  // Hands the command to all ranks and returns its number. Its bytes are those of all ranks.
  uint64_t post(const RankCommand& command);

  // Until all ranks have done it. Error: unavailable, naming the rank that has ended, shows no sign
  // of life for the deadline, or computes other numbers than its peers.
  Status wait(uint64_t number);

  size_t page_bytes() const { return page_bytes_.total(); }
  size_t state_bytes() const { return state_bytes_.total(); }

  // Ends the threads, waiting for those that show signs of life, and returns the ranks that do not
  // end: what they stand on is theirs from here on, but for the weights, which do not change.
  std::vector<size_t> retire();

  // How long each rank has shown no sign of life; without work that may be long.
  std::vector<std::chrono::nanoseconds> silences() const;

 private:
  // Where each rank's bytes begin among those of all.
  class Offsets {
   public:
    void add(size_t size) { begins_.push_back(begins_.back() + size); }
    size_t begin(size_t rank) const { return begins_[rank]; }
    size_t total() const { return begins_.back(); }

   private:
    std::vector<size_t> begins_ = {0};
  };

  RankTeam(const RankSeats& seats, const Options& options);
  void take_seat(size_t rank, const RankSeat& seat, parallel::RankComms comms);
  Status wait_until_ready();
  size_t first_byte(const RankCommand& command, size_t rank) const;
  void look_at(const std::vector<size_t>& ranks, std::chrono::nanoseconds waited);

  const Options options_;
  const parallel::CommOptions comm_;
  std::shared_ptr<RankDesk> desk_;
  std::vector<std::unique_ptr<RankLink>> ranks_;
  Offsets page_bytes_;
  Offsets state_bytes_;
  uint64_t last_number_ = kSetUp;
  bool retired_ = false;
};

}  // namespace evener::engine
