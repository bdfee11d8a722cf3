#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "gguf/file.h"
#include "model/model.h"
#include "model/rank_memory.h"
#include "parallel/layout.h"

namespace evener::model::test {

// A model in parts, each with a device of one thread: what ranks do, without an engine.
class PartsRun {
 public:
  // Errors: as cut_model() and load_model().
  static Result<PartsRun> create(const gguf::File& file, const parallel::Layout& layout);

  // Logits [tokens, vocab] of a sequence from its start, in passes of up to `chunk` rows. At most
  // 64 tokens.
  std::vector<float> logits(std::span<const int32_t> tokens, size_t chunk);

  // How often each expert was chosen, shard by shard of the first stage: [layers][experts].
  std::vector<std::vector<std::vector<uint64_t>>> expert_uses();

 private:
  struct Rank {
    std::unique_ptr<device::Device> device;
    std::unique_ptr<Model> model;
    std::unique_ptr<RankMemory> memory;
  };
  PartsRun(parallel::Grid grid, std::vector<Rank> ranks) : grid_(grid), ranks_(std::move(ranks)) {}

  parallel::Grid grid_;
  std::vector<Rank> ranks_;
};

}  // namespace evener::model::test
