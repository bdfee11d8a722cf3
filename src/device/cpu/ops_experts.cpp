// Mixtures of experts: hands on to choose_experts.h and expert_ffn.h.
#include <algorithm>

#include "device/cpu/choose_experts.h"
#include "device/cpu/cpu_buffer.h"
#include "device/cpu/cpu_routing.h"
#include "device/cpu/expert_ffn.h"
#include "device/cpu/kernel_device.h"

namespace evener::device::cpu {
namespace {

// Of one expert of one row: its score, and a look at whether it is chosen.
constexpr size_t kScoreCost = 20;

void check_route(const RoutingShape& shape, const Tensor& logits, const RouteArgs& args) {
  EVENER_ASSERT(logits.cols == shape.num_experts);
  EVENER_ASSERT(logits.rows <= shape.num_rows);
  if (args.bias.buffer == nullptr) return;
  EVENER_ASSERT(args.bias.rows == 1);
  EVENER_ASSERT(args.bias.cols == shape.num_experts);
}

}  // namespace

Result<std::unique_ptr<Routing>> KernelDevice::create_routing(const RoutingShape& shape) {
  EVENER_ASSERT(shape.num_chosen > 0);
  EVENER_ASSERT(shape.num_chosen <= shape.num_experts);
  ASSIGN_OR_RETURN(ExpertRoom room, ExpertRoom::create(shape, info_.name + ", experts", place_));
  RETURN_IF_ERROR(reserve_scratch(2 * shape.num_experts));
  return std::make_unique<CpuRouting>(shape, std::move(room));
}

void KernelDevice::route(Routing& routing, size_t layer, const Tensor& logits,
                         const RouteArgs& args) {
  auto& choices = static_cast<CpuRouting&>(routing);
  const RoutingShape& shape = routing.shape();
  check_route(shape, logits, args);
  const auto score = args.scoring == Scoring::softmax ? kernels_.softmax : kernels_.sigmoid;
  const float* const from = data_of(logits);
  const float* const bias = args.bias.buffer == nullptr ? nullptr : data_of(args.bias);
  const size_t n = shape.num_experts;
  choices.begin(logits.rows);
  split(logits.rows, n * kScoreCost, [&](size_t begin, size_t end, size_t thread) {
    const std::span scores(scratch(thread, 2 * n), n);
    const std::span ranks(scores.data() + n, n);
    for (size_t row = begin; row < end; ++row) {
      score(from + row * logits.stride, scores.data(), n);
      for (size_t e = 0; bias != nullptr && e < n; ++e) ranks[e] = scores[e] + bias[e];
      const std::span experts(choices.experts(row), shape.num_chosen);
      choose_experts(bias == nullptr ? scores : ranks, experts);
      weigh_choices(scores, experts, {.renormalise = args.renormalise, .scale = args.scale},
                    {choices.weights(row), shape.num_chosen});
    }
  });
  choices.finish(layer);
}

void KernelDevice::expert_ffn(Routing& routing, const Tensor& x, const ExpertWeights& weights,
                              const Tensor& y) {
  auto& choices = static_cast<CpuRouting&>(routing);
  cpu::expert_ffn(*pool_, {.ops = kernels_, .linear = linear_kernels_}, choices,
                  {data_of(x), x.rows, x.cols, x.stride}, weights,
                  {data_of(y), y.rows, y.cols, y.stride});
}

void KernelDevice::read_choices(const Routing& routing, std::span<int32_t> experts,
                                std::span<float> weights) {
  const auto& choices = static_cast<const CpuRouting&>(routing);
  EVENER_ASSERT(experts.size() == choices.all_experts().size());
  EVENER_ASSERT(weights.size() == choices.all_weights().size());
  std::ranges::copy(choices.all_experts(), experts.begin());
  std::ranges::copy(choices.all_weights(), weights.begin());
}

void KernelDevice::read_expert_uses(const Routing& routing, size_t layer,
                                    std::span<uint64_t> uses) {
  const auto& choices = static_cast<const CpuRouting&>(routing);
  EVENER_ASSERT(uses.size() == routing.shape().num_experts);
  std::ranges::copy(choices.uses(layer), uses.begin());
}

void KernelDevice::reset_expert_uses(Routing& routing) {
  static_cast<CpuRouting&>(routing).reset_uses();
}

}  // namespace evener::device::cpu
