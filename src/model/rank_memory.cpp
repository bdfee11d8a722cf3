#include "model/rank_memory.h"

#include <utility>

#include "base/assert.h"
#include "model/model.h"

namespace evener::model {
namespace {

// Tensors start on cache lines, so that vector loads do not straddle them.
constexpr size_t kAlignFloats = 16;

}  // namespace

Result<Scratch> Scratch::create(device::Device& device, size_t num_floats) {
  ASSIGN_OR_RETURN(auto buffer, device.allocate(num_floats * sizeof(float)));
  return Scratch(std::move(buffer), num_floats);
}

Scratch::Scratch(std::unique_ptr<device::Buffer> buffer, size_t num_floats)
    : buffer_(std::move(buffer)), num_floats_(num_floats) {}

size_t Scratch::size_of(size_t rows, size_t cols) {
  return (rows * cols + kAlignFloats - 1) / kAlignFloats * kAlignFloats;
}

device::Tensor Scratch::make(size_t rows, size_t cols) {
  const size_t size = size_of(rows, cols);
  EVENER_ASSERT(used_ + size <= num_floats_);
  const device::Tensor tensor{
      .buffer = buffer_.get(), .offset = used_, .rows = rows, .cols = cols, .stride = cols};
  used_ += size;
  return tensor;
}

device::KvCacheShape kv_cache_shape(const Config& config, const MemoryPlan& plan) {
  return {.num_layers = config.num_attention_layers(),
          .num_pages = plan.num_pages,
          .page_size = plan.page_size,
          .num_kv_heads = config.num_kv_heads,
          .head_dim = config.head_dim,
          .type = plan.kv_type};
}

device::StateCacheShape state_cache_shape(const Config& config, const MemoryPlan& plan) {
  const DeltaNetConfig& d = config.delta_net;
  return {.num_layers = config.num_recurrent_layers(),
          .num_slots = plan.num_slots,
          .conv_taps = d.conv_taps,
          .conv_channels = d.conv_channels(),
          .num_value_heads = d.num_value_heads,
          .head_dim = d.head_dim};
}

device::RoutingShape routing_shape(const Config& config, const MemoryPlan& plan) {
  const MixtureConfig& m = config.mixture;
  return {.num_layers = m.num_experts == 0 ? 0 : config.num_layers,
          .num_rows = m.num_experts == 0 ? 0 : plan.num_rows,
          .num_experts = m.num_experts,
          .num_chosen = m.num_experts_per_token,
          .hidden_size = config.hidden_size,
          .intermediate_size = m.intermediate_size};
}

Result<RankMemory> RankMemory::create(device::Device& device, const Model& model,
                                      const MemoryPlan& plan) {
  const Config& config = model.config();
  ASSIGN_OR_RETURN(
      Scratch scratch,
      Scratch::create(device, model.scratch_floats(plan.num_rows, plan.num_logit_rows)));
  RankMemory memory{
      .scratch = std::move(scratch), .kv = nullptr, .state = nullptr, .routing = nullptr};
  if (config.num_attention_layers() > 0) {
    ASSIGN_OR_RETURN(memory.kv, device.create_kv_cache(kv_cache_shape(config, plan)));
  }
  if (config.num_recurrent_layers() > 0) {
    ASSIGN_OR_RETURN(memory.state, device.create_state_cache(state_cache_shape(config, plan)));
  }
  if (config.mixture.num_experts > 0) {
    ASSIGN_OR_RETURN(memory.routing, device.create_routing(routing_shape(config, plan)));
  }
  return memory;
}

std::vector<std::vector<uint64_t>> expert_uses(device::Device& device, const RankMemory& memory) {
  if (!memory.routing) return {};
  const device::RoutingShape& shape = memory.routing->shape();
  std::vector uses(shape.num_layers, std::vector<uint64_t>(shape.num_experts));
  for (size_t layer = 0; layer < shape.num_layers; ++layer) {
    device.read_expert_uses(*memory.routing, layer, uses[layer]);
  }
  return uses;
}

}  // namespace evener::model
