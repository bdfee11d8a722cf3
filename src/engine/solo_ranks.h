#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.h"
#include "engine/rank.h"
#include "engine/rank_failure.h"
#include "engine/rank_seat.h"
#include "engine/ranks.h"
#include "engine/restart_policy.h"

namespace evener::engine {

// One rank that has the whole model, on the calling thread: begin() computes. All that can fail is
// its device; a restart then makes that anew, and loads the weights again.
class SoloRanks final : public Ranks {
 public:
  struct Options {
    model::MemoryPlan memory;
    size_t max_restarts = 3;  // in an hour
  };

  // Errors: as model::RankMemory::create.
  static Result<std::unique_ptr<SoloRanks>> create(RankSeats seats, const Options& options);

  size_t depth() const override { return 1; }
  void begin(const RankPass& pass) override;
  Result<const PassResult*> end() override;

  void clear_state(int32_t slot) override;
  void copy_state(int32_t from, int32_t to) override;
  size_t page_bytes() const override { return page_bytes_; }
  size_t state_bytes() const override { return state_bytes_; }
  void write_page(int32_t page, std::span<const std::byte> bytes) override;
  void write_state(int32_t slot, std::span<const std::byte> bytes) override;
  Status read_page(int32_t page, std::span<std::byte> bytes) override;
  Status read_state(int32_t slot, std::span<std::byte> bytes) override;
  std::vector<std::vector<uint64_t>> expert_uses() override;
  void reset_expert_uses() override;

  Result<Restart> restart() override;
  void interrupt() override { wait_.interrupt(); }
  RanksReport report() const override;

 private:
  SoloRanks(RankSeats seats, const Options& options);
  Status take_seat();
  Status noted(Status status);
  Error of_device(Error error) const;
  void note_failure(const Error& error);
  Error go_down();

  const Options options_;
  RankSeats seats_;
  RestartPolicy policy_;
  RestartWait wait_;
  const parallel::RankComms comms_ = parallel::RankComms::solo();
  std::unique_ptr<device::Device> device_;  // null: the seat's own is used
  std::optional<Rank> rank_;                // none between a failure and the end of the restart
  size_t page_bytes_ = 0;
  size_t state_bytes_ = 0;
  PassResult result_;
  std::optional<Error> failure_;  // until the restart
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();

  mutable std::mutex mutex_;
  RanksReport report_;
};

}  // namespace evener::engine
