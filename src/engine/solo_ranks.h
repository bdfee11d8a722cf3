#pragma once

#include "engine/rank.h"
#include "engine/ranks.h"

namespace evener::engine {

// One rank that has the whole model, on the calling thread: begin() computes. It cannot fail.
class SoloRanks final : public Ranks {
 public:
  explicit SoloRanks(Rank rank) : rank_(std::move(rank)) {}

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

  Status restart() override;
  void interrupt() override {}

 private:
  Rank rank_;
  Result<std::span<const float>> logits_;  // of the pass that has begun
};

}  // namespace evener::engine
