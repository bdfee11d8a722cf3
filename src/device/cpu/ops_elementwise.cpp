// Activations, sums, row copies.
#include <cstring>

#include "device/cpu/cpu_buffer.h"
#include "device/cpu/kernel_device.h"

namespace evener::device::cpu {
namespace {

// Cost of one element in simple float operations.
constexpr size_t kSigmoidCost = 12;
constexpr size_t kCopyCost = 1;

void check_same_shape(const Tensor& a, const Tensor& b) {
  EVENER_ASSERT(a.rows == b.rows);
  EVENER_ASSERT(a.cols == b.cols);
}

}  // namespace

void KernelDevice::silu_mul(const Tensor& gate, const Tensor& up, const Tensor& y) {
  check_same_shape(gate, y);
  check_same_shape(up, y);
  const float* const g = data_of(gate);
  const float* const u = data_of(up);
  float* const to = data_of(y);
  split_elements(y.rows, y.cols, kSigmoidCost, [&](size_t row, size_t begin, size_t end) {
    kernels_.silu_mul(g + row * gate.stride + begin, u + row * up.stride + begin,
                      to + row * y.stride + begin, end - begin);
  });
}

void KernelDevice::sigmoid_mul(const Tensor& x, const Tensor& gate, const Tensor& y) {
  check_same_shape(x, y);
  if (gate.cols == 1 && y.cols != 1) return gate_rows(x, gate, y);
  check_same_shape(gate, y);
  const float* const from = data_of(x);
  const float* const g = data_of(gate);
  float* const to = data_of(y);
  split_elements(y.rows, y.cols, kSigmoidCost, [&](size_t row, size_t begin, size_t end) {
    kernels_.sigmoid_mul(from + row * x.stride + begin, g + row * gate.stride + begin,
                         to + row * y.stride + begin, end - begin);
  });
}

// One gate for each row.
void KernelDevice::gate_rows(const Tensor& x, const Tensor& gate, const Tensor& y) {
  EVENER_ASSERT(gate.rows == y.rows);
  const float* const from = data_of(x);
  const float* const g = data_of(gate);
  float* const to = data_of(y);
  split_elements(y.rows, y.cols, kCopyCost, [&](size_t row, size_t begin, size_t end) {
    constexpr int32_t kThisRow = 0;
    float weight = 0;
    kernels_.sigmoid(g + row * gate.stride, &weight, 1);
    kernels_.weighted_sum({.x = from + row * x.stride + begin,
                           .x_stride = x.stride,
                           .rows = &kThisRow,
                           .weights = &weight,
                           .num_rows = 1,
                           .y = to + row * y.stride + begin,
                           .n = end - begin});
  });
}

void KernelDevice::add(const Tensor& x, const Tensor& y) {
  check_same_shape(x, y);
  const float* const from = data_of(x);
  float* const to = data_of(y);
  split_elements(y.rows, y.cols, kCopyCost, [&](size_t row, size_t begin, size_t end) {
    kernels_.add(from + row * x.stride + begin, to + row * y.stride + begin, end - begin);
  });
}

void KernelDevice::gather_rows(const Tensor& x, std::span<const int32_t> rows, const Tensor& y) {
  EVENER_ASSERT(rows.size() == y.rows);
  EVENER_ASSERT(x.cols == y.cols);
  const float* const from = data_of(x);
  float* const to = data_of(y);
  split_elements(y.rows, y.cols, kCopyCost, [&](size_t row, size_t begin, size_t end) {
    const size_t source = size_t(rows[row]);
    EVENER_ASSERT(source < x.rows);
    std::memcpy(to + row * y.stride + begin, from + source * x.stride + begin,
                (end - begin) * sizeof(float));
  });
}

}  // namespace evener::device::cpu
