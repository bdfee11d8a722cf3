// Weights and linear maps: hands on to linear.h and packed_weight.h.
#include <array>

#include "device/cpu/cpu_buffer.h"
#include "device/cpu/kernel_device.h"
#include "device/cpu/packed_weight.h"

namespace evener::device::cpu {
namespace {

MatrixView view_of(const Tensor& tensor) {
  return {
      .data = data_of(tensor), .rows = tensor.rows, .cols = tensor.cols, .stride = tensor.stride};
}

HostLinearPart host_part(const LinearPart& part) {
  const bool has_bias = part.bias.buffer != nullptr;
  if (has_bias) {
    EVENER_ASSERT(part.bias.rows == 1);
    EVENER_ASSERT(part.bias.cols == part.y.cols);
  }
  return {
      .weight = part.weight, .bias = has_bias ? data_of(part.bias) : nullptr, .y = view_of(part.y)};
}

}  // namespace

Result<std::unique_ptr<Weight>> KernelDevice::upload(const WeightSource& source, WeightUse use) {
  return pack_weight(source, use, *pool_, linear_kernels_, place_);
}

void KernelDevice::linear(const Tensor& x, std::span<const LinearPart> parts) {
  constexpr size_t kPartsMax = 8;
  EVENER_ASSERT(parts.size() <= kPartsMax);
  std::array<HostLinearPart, kPartsMax> host_parts;
  for (size_t i = 0; i < parts.size(); ++i) host_parts[i] = host_part(parts[i]);
  const MatrixView in = view_of(x);
  cpu::linear(*pool_, linear_kernels_, linear_scratch_, {in.data, in.rows, in.cols, in.stride},
              std::span(host_parts).first(parts.size()));
}

void KernelDevice::embedding(const Weight& weight, std::span<const int32_t> ids, const Tensor& y) {
  embedding_rows(weight, ids, view_of(y));
}

}  // namespace evener::device::cpu
