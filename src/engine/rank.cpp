#include "engine/rank.h"

#include <utility>

#include "model/pass.h"

namespace evener::engine {

Rank::Rank(device::Device& device, const model::Model& model, parallel::RankComms comms,
           model::RankMemory memory)
    : device_(&device), model_(&model), comms_(std::move(comms)), memory_(std::move(memory)) {}

Result<std::span<const float>> Rank::run(const RankPass& rank_pass) {
  model::Pass pass(*device_, comms_, memory_, rank_pass.input);
  const model::Pass::Scope scope(pass);
  const device::Tensor logits = model_->forward(pass);
  logits_.resize(logits.rows * logits.cols);
  if (!logits_.empty()) device_->read(logits, logits_);
  RETURN_IF_ERROR(comms_.status());
  return logits_;
}

void Rank::clear_state(int32_t slot) { device_->reset_state(*memory_.state, slot); }

void Rank::copy_state(int32_t from, int32_t to) { device_->copy_state(*memory_.state, from, to); }

size_t Rank::page_bytes() const { return memory_.kv ? memory_.kv->stored_page_bytes() : 0; }

size_t Rank::state_bytes() const { return memory_.state ? memory_.state->stored_slot_bytes() : 0; }

void Rank::read_page(int32_t page, std::span<std::byte> bytes) {
  device_->read_page(*memory_.kv, page, bytes);
}

void Rank::write_page(int32_t page, std::span<const std::byte> bytes) {
  device_->write_page(*memory_.kv, page, bytes);
}

void Rank::read_state(int32_t slot, std::span<std::byte> bytes) {
  device_->read_state(*memory_.state, slot, bytes);
}

void Rank::write_state(int32_t slot, std::span<const std::byte> bytes) {
  device_->write_state(*memory_.state, slot, bytes);
}

std::vector<std::vector<uint64_t>> Rank::expert_uses() const {
  return model::expert_uses(*device_, memory_);
}

void Rank::reset_expert_uses() {
  if (memory_.routing) device_->reset_expert_uses(*memory_.routing);
}

}  // namespace evener::engine
