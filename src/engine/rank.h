#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "engine/rank_pass.h"
#include "model/model.h"
#include "model/rank_memory.h"
#include "parallel/grid.h"

namespace evener::engine {

// One device with one shard of the weights and its caches. All ranks of a model are given the same
// passes in the same order. One thread at a time.
class Rank {
 public:
  // Device and model outlive the rank.
  Rank(device::Device& device, const model::Model& model, parallel::RankComms comms,
       model::RankMemory memory);

  // Executes the pass and returns its logits [logit_rows, vocab], valid until the next one; nothing
  // on ranks that do not end with logits. Error: unavailable, once a group of ranks is broken.
  Result<std::span<const float>> run(const RankPass& pass);

  // The recurrent state before the first token; a state for two to go on from. Only in models that
  // have some.
  void clear_state(int32_t slot);
  void copy_state(int32_t from, int32_t to);

  // What one page and one state take in all layers of this rank, as the device lays them out; 0 in
  // models without. Their bytes, and back, as device::Device says.
  size_t page_bytes() const;
  size_t state_bytes() const;
  void read_page(int32_t page, std::span<std::byte> bytes);
  void write_page(int32_t page, std::span<const std::byte> bytes);
  void read_state(int32_t slot, std::span<std::byte> bytes);
  void write_state(int32_t slot, std::span<const std::byte> bytes);

  // How often each expert was chosen since the last reset: [layers][experts]; empty in models
  // without.
  std::vector<std::vector<uint64_t>> expert_uses() const;
  void reset_expert_uses();

 private:
  device::Device* device_;
  const model::Model* model_;
  parallel::RankComms comms_;
  model::RankMemory memory_;
  std::vector<float> logits_;
};

}  // namespace evener::engine
