// Norms.
#include "device/cpu/cpu_buffer.h"
#include "device/cpu/kernel_device.h"

namespace evener::device::cpu {
namespace {

// Both passes over a row, in simple float operations an element.
constexpr size_t kNormCost = 4;

NormArgs norm_args(const Tensor& x, const Tensor& gain, float epsilon, const Tensor& y) {
  EVENER_ASSERT(x.rows == y.rows);
  EVENER_ASSERT(x.cols == y.cols);
  EVENER_ASSERT(gain.rows == 1);
  EVENER_ASSERT(gain.cols == x.cols);
  return {.x = data_of(x),
          .x_stride = x.stride,
          .gain = data_of(gain),
          .gate = nullptr,
          .gate_stride = 0,
          .y = data_of(y),
          .y_stride = y.stride,
          .rows = x.rows,
          .cols = x.cols,
          .epsilon = epsilon};
}

}  // namespace

void KernelDevice::normalize(void (*kernel)(const NormArgs&), const NormArgs& args) {
  split(args.rows, args.cols * kNormCost, [&](size_t begin, size_t end, size_t) {
    NormArgs part = args;
    part.x += begin * args.x_stride;
    if (part.gate != nullptr) part.gate += begin * args.gate_stride;
    part.y += begin * args.y_stride;
    part.rows = end - begin;
    kernel(part);
  });
}

void KernelDevice::rms_norm(const Tensor& x, const Tensor& gain, float epsilon, const Tensor& y) {
  normalize(kernels_.rms_norm, norm_args(x, gain, epsilon, y));
}

void KernelDevice::gated_rms_norm(const Tensor& x, const Tensor& gain, float epsilon,
                                  const Tensor& gate, const Tensor& y) {
  EVENER_ASSERT(gate.rows == x.rows);
  EVENER_ASSERT(gate.cols == x.cols);
  NormArgs args = norm_args(x, gain, epsilon, y);
  args.gate = data_of(gate);
  args.gate_stride = gate.stride;
  normalize(kernels_.gated_rms_norm, args);
}

}  // namespace evener::device::cpu
