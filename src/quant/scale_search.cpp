#include "quant/scale_search.h"

#include <algorithm>
#include <limits>

#include "tensor/float16.h"

namespace evener::quant {
namespace {

// Not in the header: where the compiler knows the levels, it prefers branches to vectors.
template <class Levels>
Match match_nearest(const Levels& levels, std::span<const float> x, std::span<const float> q,
                    float scale) {
  constexpr size_t kLanes = 8;  // sums of their own, which vectors hold
  const float inverse = inverse_of(scale);
  float error[kLanes] = {};
  float xl[kLanes] = {};
  float ll[kLanes] = {};
  for (size_t i = 0; i < x.size(); i += kLanes) {
    float level[kLanes];
    for (size_t j = 0; j < kLanes; ++j) level[j] = levels.nearest(x[i + j] * inverse);
    for (size_t j = 0; j < kLanes; ++j) {
      const float miss = x[i + j] - scale * level[j];
      const float counted = q[i + j] * level[j];
      error[j] += q[i + j] * miss * miss;
      xl[j] += counted * x[i + j];
      ll[j] += counted * level[j];
    }
  }
  Match sum;
  for (size_t j = 0; j < kLanes; ++j) {
    sum.error += error[j];
    sum.xl += xl[j];
    sum.ll += ll[j];
  }
  return sum;
}

}  // namespace

Match match_levels(const WholeLevels& levels, std::span<const float> x, std::span<const float> q,
                   float scale) {
  return match_nearest(levels, x, q, scale);
}

Match match_levels(const TableLevels& levels, std::span<const float> x, std::span<const float> q,
                   float scale) {
  return match_nearest(levels, x, q, scale);
}

Range range_of(std::span<const float> x, std::span<const float> q) {
  const float least_q = std::ranges::max(q) * 1e-4f;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Range range{.low = kInfinity, .high = -kInfinity};
  for (size_t i = 0; i < x.size(); ++i) {
    if (q[i] < least_q) continue;
    range.low = std::min(range.low, x[i]);
    range.high = std::max(range.high, x[i]);
  }
  if (range.low > range.high) return {.low = 0, .high = 0};  // no numbers at all
  return range;
}

uint16_t finite_half(float scale) {
  constexpr float kLargestHalf = 65504;
  return f32_to_f16(std::clamp(scale, -kLargestHalf, kLargestHalf));
}

}  // namespace evener::quant
