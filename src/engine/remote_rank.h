#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "engine/rank_desk.h"
#include "engine/rank_link.h"
#include "engine/rank_wire.h"
#include "parallel/mpi/mpi_world.h"

namespace evener::engine {

// A rank in another process, where serve_commands() runs. The world outlives it.
class RemoteRank final : public RankLink {
 public:
  RemoteRank(parallel::MpiWorld& world, size_t rank, std::shared_ptr<RankDesk> desk);
  ~RemoteRank() override;

  void post(RankCommand command) override;
  size_t page_bytes() const override { return page_bytes_; }
  size_t state_bytes() const override { return state_bytes_; }
  void break_with(const Error& error) override { world_.break_with(error); }
  std::chrono::nanoseconds silent_for() const override;
  void close() override;
  // Its process is left to the world, which tells it that it is broken.
  void give_up() override;

 private:
  void listen() noexcept;
  Status take(std::span<const std::byte> bytes);
  Status hand_over(RankAnswer answer);
  Error not_asked() const;
  size_t size_of(const RankCommand& command) const;  // of what it reads or writes, this rank's

  parallel::MpiWorld& world_;
  const size_t rank_;
  const std::shared_ptr<RankDesk> desk_;
  size_t page_bytes_ = 0;  // written before the desk hears of kSetUp
  size_t state_bytes_ = 0;

  std::mutex mutex_;
  std::deque<RankCommand> unanswered_;
  std::thread listener_;
};

}  // namespace evener::engine
