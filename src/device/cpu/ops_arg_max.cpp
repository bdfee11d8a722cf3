#include "device/cpu/cpu_buffer.h"
#include "device/cpu/kernel_device.h"
#include "tensor/arg_max.h"

namespace evener::device::cpu {
namespace {

constexpr size_t kCompareCost = 4;

}  // namespace

void KernelDevice::arg_max(const Tensor& x, std::span<int32_t> best) {
  EVENER_ASSERT(best.size() == x.rows);
  const float* const from = data_of(x);
  split(x.rows, x.cols * kCompareCost, [&](size_t begin, size_t end, size_t) {
    for (size_t row = begin; row < end; ++row) {
      const auto place = evener::arg_max({from + row * x.stride, x.cols});
      best[row] = place ? static_cast<int32_t>(*place) : -1;
    }
  });
}

}  // namespace evener::device::cpu
