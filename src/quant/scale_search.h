#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "quant/levels.h"
#include "tensor/float16.h"

namespace evener::quant {

// How encoders choose a scale. Weights x[i], which count q[i], are to be met by scale * l[i], with
// l[i] the level nearest to x[i] / scale. For given levels the best scale follows from two sums,
// but other scales have other levels: so some are tried, and from the best one scale and levels
// improve each other until they stay. Judge: tests/quant/encode_test.cpp, against a search over all
// scales.

struct Match {
  float error = 0;  // sum of q (x - scale l)^2
  float xl = 0;     // sum of q x l
  float ll = 0;     // sum of q l^2

  // The scale that makes the error of these levels smallest.
  float best_scale() const { return ll > 0 ? xl / ll : 0; }
};

// 1 / scale, or 0 for 0.
inline float inverse_of(float scale) { return scale != 0 ? 1 / scale : 0; }

// Matches with the levels nearest to x / scale. The lengths are one multiple of 8.
Match match_levels(const WholeLevels& levels, std::span<const float> x, std::span<const float> q,
                   float scale);
Match match_levels(const TableLevels& levels, std::span<const float> x, std::span<const float> q,
                   float scale);

// Where on the levels the largest weight falls with the scales that are tried first:
// level * ratio^k for k in -below..above, and the negatives too if the levels are not the same on
// both sides of zero. Above the last level means that the largest weights are clipped.
struct Reaches {
  float level;
  float ratio;
  int below;
  int above;
  bool both_signs;
};

// The lowest and the highest of the weights x that count, at least a little beside the others: one
// that does not may lie far out and be clipped.
struct Range {
  float low;
  float high;

  float farthest() const { return -low > high ? low : high; }  // from zero
};
Range range_of(std::span<const float> x, std::span<const float> q);

// The half nearest to `scale`, and no infinite one.
uint16_t finite_half(float scale);

struct ScaleFit {
  float scale = 0;
  Match match;
};

// The best of the scales tried. match(scale) rounds the scale if it is to be stored, and matches.
template <class MatchAt>
ScaleFit find_scale(float largest, const Reaches& reaches, MatchAt match) {
  ScaleFit best{.scale = 0, .match = match(0)};
  const auto try_scale = [&](float scale) {
    const ScaleFit fit{.scale = scale, .match = match(scale)};
    if (!(fit.match.error < best.match.error)) return false;
    best = fit;
    return true;
  };
  if (!reaches.both_signs) largest = std::abs(largest);
  float reach = reaches.level;
  for (int k = 0; k < reaches.below; ++k) reach /= reaches.ratio;
  for (int k = -reaches.below; k <= reaches.above; ++k) {
    try_scale(largest / reach);
    if (reaches.both_signs) try_scale(-largest / reach);
    reach *= reaches.ratio;
  }
  constexpr int kRefinements = 8;
  for (int i = 0; i < kRefinements && try_scale(best.match.best_scale()); ++i) {
  }
  return best;
}

// The half that a block of one scale is to store.
template <class Levels>
uint16_t find_half_scale(const Levels& levels, const Reaches& reaches, std::span<const float> x,
                         std::span<const float> q) {
  const auto match = [&](float scale) {
    return match_levels(levels, x, q, f16_to_f32(finite_half(scale)));
  };
  return finite_half(find_scale(range_of(x, q).farthest(), reaches, match).scale);
}

}  // namespace evener::quant
