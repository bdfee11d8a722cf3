// Rotary embedding.
#include <cmath>

#include "device/cpu/cpu_buffer.h"
#include "device/cpu/kernel_device.h"

namespace evener::device::cpu {
namespace {

constexpr size_t kSineCost = 100;  // of a cosine and sine in double precision
constexpr size_t kTurnCost = 4;    // of a pair

}  // namespace

void KernelDevice::rope_angles(std::span<const int32_t> positions,
                               std::span<const double> inverse_frequency, float magnitude,
                               const Tensor& angles) {
  const size_t pairs = inverse_frequency.size();
  EVENER_ASSERT(angles.rows == positions.size());
  EVENER_ASSERT(angles.cols == 2 * pairs);
  float* const to = data_of(angles);
  split(angles.rows, pairs * kSineCost, [&](size_t begin, size_t end, size_t) {
    for (size_t r = begin; r < end; ++r) {
      float* const row = to + r * angles.stride;
      for (size_t k = 0; k < pairs; ++k) {
        const double angle = double(positions[r]) * inverse_frequency[k];
        row[k] = float(std::cos(angle) * double(magnitude));
        row[pairs + k] = float(std::sin(angle) * double(magnitude));
      }
    }
  });
}

void KernelDevice::rope(const Tensor& x, const Tensor& angles, RopePairing pairing) {
  if (x.rows == 0) return;
  EVENER_ASSERT(angles.rows > 0);
  EVENER_ASSERT(x.rows % angles.rows == 0);
  EVENER_ASSERT(angles.cols <= x.cols);
  const size_t heads = x.rows / angles.rows;
  const auto kernel =
      pairing == RopePairing::halves ? kernels_.rope_halves : kernels_.rope_neighbours;
  float* const data = data_of(x);
  const float* const turns = data_of(angles);
  split(angles.rows, heads * angles.cols * kTurnCost / 2, [&](size_t begin, size_t end, size_t) {
    for (size_t r = begin; r < end; ++r) {
      kernel({.x = data + r * heads * x.stride,
              .x_stride = x.stride,
              .heads = heads,
              .angles = turns + r * angles.stride,
              .pairs = angles.cols / 2});
    }
  });
}

}  // namespace evener::device::cpu
