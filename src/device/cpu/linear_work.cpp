#include "device/cpu/linear_work.h"

#include <algorithm>

namespace evener::device::cpu {

size_t bytes_of_panel(Activations kind, size_t inputs) {
  return kind == Activations::q8_0 ? inputs / 32 * sizeof(Q8_0Panel)
                                   : inputs / 256 * sizeof(Q8_KPanel);
}

void round_row(const LinearKernels& kernels, Activations kind, std::span<const float> x,
               std::byte* panel, size_t row) {
  if (kind == Activations::q8_0) {
    kernels.quantise_q8_0(x.data(), x.size(), reinterpret_cast<Q8_0Panel*>(panel), row);
  } else {
    kernels.quantise_q8_k(x.data(), x.size(), reinterpret_cast<Q8_KPanel*>(panel), row);
  }
}

bool any_wants(std::span<const HostLinearPart> parts, Activations kind) {
  return std::ranges::any_of(parts, [kind](const HostLinearPart& part) {
    return packed(part).kernels().activations == kind;
  });
}

LinearArgs linear_args(const LinearJob& job, const PreparedInput& input) {
  const PackedWeight& weight = packed(job.part);
  return {.weights = weight.groups(job.expert),
          .group_bytes = weight.group_bytes(),
          .group_begin = job.groups.begin,
          .group_end = job.groups.end,
          .inputs = weight.inputs(),
          .outputs = weight.outputs(),
          .activations = input.at_row(job.rows.begin),
          .panel_bytes = input.step_bytes,
          .rows = job.rows.end - job.rows.begin,
          .bias = job.part.bias,
          .y = job.part.y.row(job.rows.begin),
          .y_stride = job.part.y.stride};
}

size_t few_rows_grain(size_t total, size_t inputs, size_t num_threads) {
  constexpr size_t kWeightsPerGrain = 64 * 1024;
  const size_t wanted = std::max<size_t>(1, kWeightsPerGrain / (16 * std::max<size_t>(1, inputs)));
  return std::clamp<size_t>(total / (4 * num_threads), 1, wanted);
}

}  // namespace evener::device::cpu
