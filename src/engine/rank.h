#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "engine/rank_pass.h"
#include "model/model.h"
#include "model/rank_memory.h"
#include "parallel/comm.h"

namespace evener::engine {

// One device with one shard of the weights and its caches. All ranks of a model are given the same
// passes in the same order. One thread at a time.
class Rank {
 public:
  // Device and model outlive the rank.
  Rank(device::Device& device, const model::Model& model, std::unique_ptr<parallel::Comm> comm,
       model::RankMemory memory);

  // Executes the pass and returns its logits [logit_rows, vocab], valid until the next one.
  std::span<const float> run(const RankPass& pass);

  // How often each expert was chosen since the last reset: [layers][experts]; empty in models
  // without.
  std::vector<std::vector<uint64_t>> expert_uses() const;
  void reset_expert_uses();

 private:
  device::Device* device_;
  const model::Model* model_;
  std::unique_ptr<parallel::Comm> comm_;
  model::RankMemory memory_;
  std::vector<float> logits_;
};

}  // namespace evener::engine
