#include "engine/rank.h"

#include <utility>

#include "model/pass.h"

namespace evener::engine {

Rank::Rank(device::Device& device, const model::Model& model, std::unique_ptr<parallel::Comm> comm,
           model::RankMemory memory)
    : device_(&device), model_(&model), comm_(std::move(comm)), memory_(std::move(memory)) {}

std::span<const float> Rank::run(const RankPass& rank_pass) {
  if (memory_.state) {
    for (const int32_t slot : rank_pass.fresh_slots) device_->reset_state(*memory_.state, slot);
  }
  model::Pass pass(*device_, *comm_, memory_, rank_pass.input);
  const model::Pass::Scope scope(pass);
  const device::Tensor logits = model_->forward(pass);
  logits_.resize(logits.rows * logits.cols);
  if (!logits_.empty()) device_->read(logits, logits_);
  return logits_;
}

std::vector<std::vector<uint64_t>> Rank::expert_uses() const {
  return model::expert_uses(*device_, memory_);
}

void Rank::reset_expert_uses() {
  if (memory_.routing) device_->reset_expert_uses(*memory_.routing);
}

}  // namespace evener::engine
