#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace evener::quant {

// A sub-block of Q4_K or Q5_K: weight[i] = scale * code[i] - min, neither of them negative.
struct Line {
  float scale = 0;
  float min = 0;

  // The nearest code, at most `highest`.
  int code(float x, float highest) const;
};

// Scales and minima of the eight sub-blocks of a block as a file stores them: line s has
// f16_to_f32(scale) * sub_scales[s] and f16_to_f32(min) * sub_mins[s].
struct KScales {
  uint16_t scale = 0;
  uint16_t min = 0;
  std::array<uint8_t, 8> sub_scales{};
  std::array<uint8_t, 8> sub_mins{};

  Line line(size_t sub) const;
};

// Chooses them for 256 weights x, which count q, and codes 0..highest, in the way of
// scale_search.h: for given codes the best scales and minima follow from sums.
KScales fit_k_scales(std::span<const float> x, std::span<const float> q, float highest);

}  // namespace evener::quant
