#include "engine/solo_ranks.h"

#include "base/assert.h"

namespace evener::engine {

void SoloRanks::begin(const RankPass& pass) { logits_ = rank_.run(pass); }

Result<std::span<const float>> SoloRanks::end() { return logits_; }

void SoloRanks::write_page(int32_t page, std::span<const std::byte> bytes) {
  rank_.write_page(page, bytes);
}

void SoloRanks::write_state(int32_t slot, std::span<const std::byte> bytes) {
  rank_.write_state(slot, bytes);
}

Status SoloRanks::read_page(int32_t page, std::span<std::byte> bytes) {
  rank_.read_page(page, bytes);
  return {};
}

Status SoloRanks::read_state(int32_t slot, std::span<std::byte> bytes) {
  rank_.read_state(slot, bytes);
  return {};
}

Status SoloRanks::restart() {
  EVENER_ASSERT(false);  // only after a failure
  return {};
}

}  // namespace evener::engine
