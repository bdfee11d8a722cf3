// Mixtures of experts: choices are made, sorted and followed on the card; the host learns nothing.
#include <algorithm>
#include <cstring>

#include "device/vulkan/card_device.h"
#include "device/vulkan/vulkan_routing.h"

namespace evener::device::vulkan {
namespace {

constexpr size_t kExpertsMax = 2048;  // whose scores a workgroup holds
constexpr size_t kTileRows = 32;

struct RouteKernelArgs {
  uint64_t logits, bias, experts, weights, uses;
  uint32_t logits_stride, rows, chosen;
  float scale;
};

struct GroupArgs {
  uint64_t experts, places, tiles;
  uint32_t choices, num_tiles, first_expert, num_experts;
};

struct CombineArgs {
  uint64_t results, experts, weights, y;
  uint32_t y_stride, rows, cols, chosen, first_expert, num_experts;
};

}  // namespace

void CardDevice::route(Routing& routing, size_t layer, const Tensor& logits,
                       const RouteArgs& args) {
  auto& choices = static_cast<VulkanRouting&>(routing);
  const RoutingShape& shape = routing.shape();
  EVENER_ASSERT(logits.cols == shape.num_experts);
  EVENER_ASSERT(logits.rows <= shape.num_rows);
  EVENER_ASSERT(shape.num_experts <= kExpertsMax);
  if (args.bias.buffer != nullptr) EVENER_ASSERT(args.bias.cols == shape.num_experts);
  choices.num_rows = logits.rows;
  if (logits.rows == 0) return;
  steps_->begin();
  const RouteKernelArgs kernel{.logits = address_of(logits),
                               .bias = args.bias.buffer == nullptr ? 0 : address_of(args.bias),
                               .experts = choices.experts().address,
                               .weights = choices.weights().address,
                               .uses = choices.uses(layer).address,
                               .logits_stride = uint32_t(logits.stride),
                               .rows = uint32_t(logits.rows),
                               .chosen = uint32_t(shape.num_chosen),
                               .scale = args.scale};
  const RowGroups groups = spread_rows(logits.rows);
  call({.kernel = "route",
        .constants = {0, uint32_t(shape.num_experts), args.scoring == Scoring::sigmoid,
                      args.renormalise},
        .num_constants = 4},
       {1, groups.y, groups.z}, kernel, {touched(logits)}, {touched(choices.region())},
       Work::experts);
}

// Sorts the choices into tiles; the number of tiles, of which some may be empty.
size_t CardDevice::group_choices(VulkanRouting& routing, const ExpertWeights& weights,
                                 size_t tile_rows) {
  const RoutingShape& shape = routing.shape();
  const size_t num_choices = routing.num_rows * shape.num_chosen;
  const size_t num_experts = weights.gate->num_experts();
  const size_t num_tiles =
      std::min(num_choices, num_experts + (num_choices + tile_rows - 1) / tile_rows);
  const GroupArgs args{.experts = routing.experts().address,
                       .places = routing.places().address,
                       .tiles = routing.tiles().address,
                       .choices = uint32_t(num_choices),
                       .num_tiles = uint32_t(num_tiles),
                       .first_expert = uint32_t(weights.first_expert),
                       .num_experts = uint32_t(num_experts)};
  call({.kernel = "group_choices",
        .constants = {0, uint32_t(shape.num_experts), uint32_t(tile_rows)},
        .num_constants = 3},
       {1, 1, 1}, args, {touched(routing.experts(), 4 * num_choices)},
       {touched(routing.places(), 4 * num_choices),
        touched(routing.tiles(), num_tiles * sizeof(VulkanRouting::RowTile))},
       Work::experts);
  return num_tiles;
}

void CardDevice::combine_choices(const VulkanRouting& routing, const ExpertWeights& weights,
                                 const Tensor& y) {
  const CombineArgs combine{.results = routing.results().address,
                            .experts = routing.experts().address,
                            .weights = routing.weights().address,
                            .y = address_of(y),
                            .y_stride = uint32_t(y.stride),
                            .rows = uint32_t(y.rows),
                            .cols = uint32_t(y.cols),
                            .chosen = uint32_t(routing.shape().num_chosen),
                            .first_expert = uint32_t(weights.first_expert),
                            .num_experts = uint32_t(weights.gate->num_experts())};
  constexpr uint32_t kThreads = 64;
  const RowGroups groups = spread_rows(y.rows);
  call({.kernel = "combine_choices", .constants = {kThreads}, .num_constants = 1},
       {groups_of(y.cols, kThreads), groups.y, groups.z}, combine, {touched(routing.region())},
       {touched(y)}, Work::experts);
}

void CardDevice::expert_ffn(Routing& routing, const Tensor& x, const ExpertWeights& weights,
                            const Tensor& y) {
  auto& choices = static_cast<VulkanRouting&>(routing);
  const RoutingShape& shape = routing.shape();
  EVENER_ASSERT(x.rows == choices.num_rows);
  EVENER_ASSERT(x.cols == weights.gate->inputs());
  EVENER_ASSERT(y.rows == x.rows);
  EVENER_ASSERT(y.cols == weights.down->outputs());
  EVENER_ASSERT(weights.gate->outputs() <= shape.intermediate_size);
  if (x.rows == 0) return;
  steps_->begin();
  const size_t num_choices = x.rows * shape.num_chosen;
  const size_t inner = weights.gate->outputs();
  const size_t tile_rows = x.rows <= kVectorRowsMax ? x.rows : kTileRows;
  const size_t num_tiles = group_choices(choices, weights, tile_rows);

  LinearRows rows{.num_rows = num_choices,
                  .y = choices.gate().address,
                  .written = touched(choices.gate(), 4 * num_choices * inner),
                  .y_stride = inner,
                  .tiles = choices.tiles().address,
                  .places = choices.places().address,
                  .num_tiles = num_tiles,
                  .tile_rows = tile_rows,
                  .choices_a_row = shape.num_chosen,
                  .lists = {choices.places().address,
                            choices.tiles().address + num_tiles * sizeof(VulkanRouting::RowTile)}};
  const auto sharing_of = [](const Weight& weight) {
    return static_cast<const VulkanWeight&>(weight).layout().sharing;
  };
  const size_t sharing = sharing_of(*weights.gate);
  const Inputs inputs = inputs_for(x, sharing, Work::experts);
  const Inputs up_inputs = sharing_of(*weights.up) == sharing
                               ? inputs
                               : inputs_for(x, sharing_of(*weights.up), Work::experts);
  if (!steps_->status()) return;
  multiply(*weights.gate, inputs, {}, rows, Work::experts);
  rows.y = choices.up().address;
  rows.written = touched(choices.up(), 4 * num_choices * inner);
  multiply(*weights.up, up_inputs, {}, rows, Work::experts);

  const FloatRows gate = packed_rows(choices.gate().address, num_choices, inner);
  const FloatRows up = packed_rows(choices.up().address, num_choices, inner);
  elementwise(Elementwise::silu_mul, gate, up, gate, Work::experts);
  Inputs half_inputs{.address = gate.address, .stride = inner, .read = gate.read};
  if (const size_t of_down = sharing_of(*weights.down); of_down != 0) {
    half_inputs = quantize(gate, of_down, halves_, Work::experts);
    if (!steps_->status()) return;
  }
  rows.y = choices.results().address;
  rows.y_stride = y.cols;
  rows.written = touched(choices.results(), 4 * num_choices * y.cols);
  rows.choices_a_row = 0;
  multiply(*weights.down, half_inputs, {}, rows, Work::experts);

  combine_choices(choices, weights, y);
}

void CardDevice::read_choices(const Routing& routing, std::span<int32_t> experts,
                              std::span<float> weights) {
  const auto& choices = static_cast<const VulkanRouting&>(routing);
  EVENER_ASSERT(experts.size() == choices.num_rows * routing.shape().num_chosen);
  EVENER_ASSERT(weights.size() == experts.size());
  if (experts.empty()) return;
  read_bytes(choices.experts(), std::as_writable_bytes(experts));
  read_bytes(choices.weights(), std::as_writable_bytes(weights));
}

void CardDevice::read_expert_uses(const Routing& routing, size_t layer, std::span<uint64_t> uses) {
  const auto& choices = static_cast<const VulkanRouting&>(routing);
  EVENER_ASSERT(uses.size() == routing.shape().num_experts);
  read_bytes(choices.uses(layer), std::as_writable_bytes(uses));  // low words first, as here
}

void CardDevice::reset_expert_uses(Routing& routing) {
  const auto& choices = static_cast<const VulkanRouting&>(routing);
  if (routing.shape().num_layers == 0) return;
  steps_->begin();
  steps_->fill(choices.uses(0), routing.shape().num_layers * choices.uses_bytes(), 0, Work::copies);
}

}  // namespace evener::device::vulkan
