#include "engine/rank.h"

#include <utility>

#include "model/pass.h"
#include "parallel/rank_errors.h"

namespace evener::engine {

Rank::Rank(device::Device& device, const model::Model& model, const parallel::RankComms& comms,
           model::RankMemory memory)
    : device_(&device), model_(&model), comms_(&comms), memory_(std::move(memory)) {}

Status Rank::run(const RankPass& rank_pass, PassResult& result) {
  model::Pass pass(*device_, *comms_, memory_, rank_pass.input);
  const model::Pass::Scope scope(pass);
  const device::Tensor logits = model_->forward(pass);
  const model::Part& part = model_->part();
  if (part.has_last_layer && part.shard == 0) read(logits, rank_pass.wanted, result);
  RETURN_IF_ERROR(device_status());  // what the others then see has its cause here
  return comms_->status();
}

void Rank::read(const device::Tensor& logits, Wanted wanted, PassResult& result) {
  result.logits.resize(wanted == Wanted::logits ? logits.rows * logits.cols : 0);
  result.best_tokens.resize(wanted == Wanted::best_tokens ? logits.rows : 0);
  if (!result.logits.empty()) device_->read(logits, result.logits);
  if (!result.best_tokens.empty()) device_->arg_max(logits, result.best_tokens);
}

Status Rank::device_status() const {
  Status status = device_->status();
  if (!status) return parallel::failed_device(std::move(status).error());
  return {};
}

void Rank::clear_state(int32_t slot) {
  if (memory_.state) device_->reset_state(*memory_.state, slot);
}

void Rank::copy_state(int32_t from, int32_t to) {
  if (memory_.state) device_->copy_state(*memory_.state, from, to);
}

size_t Rank::page_bytes() const { return memory_.kv ? memory_.kv->stored_page_bytes() : 0; }

size_t Rank::state_bytes() const { return memory_.state ? memory_.state->stored_slot_bytes() : 0; }

Status Rank::read_page(int32_t page, std::span<std::byte> bytes) {
  if (memory_.kv) device_->read_page(*memory_.kv, page, bytes);
  return device_status();
}

void Rank::write_page(int32_t page, std::span<const std::byte> bytes) {
  if (memory_.kv) device_->write_page(*memory_.kv, page, bytes);
}

Status Rank::read_state(int32_t slot, std::span<std::byte> bytes) {
  if (memory_.state) device_->read_state(*memory_.state, slot, bytes);
  return device_status();
}

void Rank::write_state(int32_t slot, std::span<const std::byte> bytes) {
  if (memory_.state) device_->write_state(*memory_.state, slot, bytes);
}

std::vector<std::vector<uint64_t>> Rank::expert_uses() const {
  return model::expert_uses(*device_, memory_);
}

void Rank::reset_expert_uses() {
  if (memory_.routing) device_->reset_expert_uses(*memory_.routing);
}

}  // namespace evener::engine
