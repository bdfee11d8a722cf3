#pragma once

#include <memory>
#include <vector>

#include "base/error.h"
#include "engine/rank.h"
#include "engine/rank_seat.h"
#include "engine/ranks.h"

namespace evener::engine {

// One rank that has the whole model, on the calling thread: begin() computes. It cannot fail.
class SoloRanks final : public Ranks {
 public:
  // Errors: as model::RankMemory::create.
  static Result<std::unique_ptr<SoloRanks>> create(RankSeats seats,
                                                   const model::MemoryPlan& memory);

  size_t depth() const override { return 1; }
  void begin(const RankPass& pass) override;
  Result<std::span<const float>> end() override;

  void clear_state(int32_t slot) override { rank_.clear_state(slot); }
  void copy_state(int32_t from, int32_t to) override { rank_.copy_state(from, to); }
  size_t page_bytes() const override { return rank_.page_bytes(); }
  size_t state_bytes() const override { return rank_.state_bytes(); }
  void write_page(int32_t page, std::span<const std::byte> bytes) override;
  void write_state(int32_t slot, std::span<const std::byte> bytes) override;
  Status read_page(int32_t page, std::span<std::byte> bytes) override;
  Status read_state(int32_t slot, std::span<std::byte> bytes) override;
  std::vector<std::vector<uint64_t>> expert_uses() override { return rank_.expert_uses(); }
  void reset_expert_uses() override { rank_.reset_expert_uses(); }

  Result<Restart> restart() override;
  void interrupt() override {}
  RanksReport report() const override { return report_; }

 private:
  SoloRanks(RankSeats seats, std::unique_ptr<device::Device> timed, model::RankMemory memory);

  const RankSeats seats_;
  const RanksReport report_;
  const parallel::RankComms comms_ = parallel::RankComms::solo();
  std::unique_ptr<device::Device> device_;  // null: the seat's own is used
  Rank rank_;
  std::vector<float> logits_;
  Status status_;  // of the pass that has begun
};

}  // namespace evener::engine
