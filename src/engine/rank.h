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
  // What it is given by reference outlives the rank.
  Rank(device::Device& device, const model::Model& model, const parallel::RankComms& comms,
       model::RankMemory memory);

  // Executes the pass. On the rank that ends with the logits, shard 0 of the last stage, `result`
  // becomes what the pass wants; others leave it alone. Error: unavailable, once a group of ranks
  // is broken or the device is lost; the result is worthless then.
  Status run(const RankPass& pass, PassResult& result);

  // The recurrent state before the first token; a state for two to go on from. Nothing happens on
  // ranks without.
  void clear_state(int32_t slot);
  void copy_state(int32_t from, int32_t to);

  // What one page and one state take in all layers of this rank, as the device lays them out; 0 in
  // ranks without. Their bytes, and back, as device::Device says; none on ranks without. Error:
  // unavailable, once the device is lost.
  size_t page_bytes() const;
  size_t state_bytes() const;
  Status read_page(int32_t page, std::span<std::byte> bytes);
  void write_page(int32_t page, std::span<const std::byte> bytes);
  Status read_state(int32_t slot, std::span<std::byte> bytes);
  void write_state(int32_t slot, std::span<const std::byte> bytes);

  // How often each expert was chosen since the last reset: [layers][experts]; empty in models
  // without.
  std::vector<std::vector<uint64_t>> expert_uses() const;
  void reset_expert_uses();

 private:
  void read(const device::Tensor& logits, Wanted wanted, PassResult& result);
  Status device_status() const;

  device::Device* device_;
  const model::Model* model_;
  const parallel::RankComms* comms_;
  model::RankMemory memory_;
};

}  // namespace evener::engine
