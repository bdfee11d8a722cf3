#include <cfloat>
#include <limits>

#include "device/cpu/cpu_buffer.h"
#include "device/cpu/kernel_device.h"

namespace evener::device::cpu {
namespace {

constexpr size_t kCompareCost = 4;

int32_t best_of(const float* values, size_t count) {
  int32_t best = -1;
  float best_value = -std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < count; ++i) {
    if (!(values[i] > best_value) || values[i] > FLT_MAX) continue;  // NaN fails the first test
    best_value = values[i];
    best = static_cast<int32_t>(i);
  }
  return best;
}

}  // namespace

void KernelDevice::arg_max(const Tensor& x, std::span<int32_t> best) {
  EVENER_ASSERT(best.size() == x.rows);
  const float* const from = data_of(x);
  split(x.rows, x.cols * kCompareCost, [&](size_t begin, size_t end, size_t) {
    for (size_t row = begin; row < end; ++row) best[row] = best_of(from + row * x.stride, x.cols);
  });
}

}  // namespace evener::device::cpu
