#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "quant/scale_search.h"

namespace evener::quant {

// Which factors a sub-block's scale may be of the block's: first, first + step, ... last.
struct Factors {
  int first;
  int last;
  int step;

  int nearest(float value) const;
  bool holds(int factor) const { return factor >= first && factor <= last; }
};

// Scales of the sub-blocks of a block: scale * factors[sub].
struct SubScales {
  uint16_t half = 0;  // how a file stores scale / unit
  float scale = 0;
  std::array<int, 16> factors{};

  float of(size_t sub) const { return scale * float(factors[sub]); }
  void set_scale(float wanted, float unit);
};

// The scale whose multiples come closest to the scales that the sub-blocks fit best with.
float nearest_common_scale(std::span<const ScaleFit> fits, const Factors& factors);

// The best factor beside scales.factors[sub], which becomes it.
template <class MatchAt>
Match improve_factor(SubScales& scales, size_t sub, const Factors& factors, MatchAt match) {
  const int middle = scales.factors[sub];
  Match least = match(sub, scales.of(sub));
  for (const int factor : {middle - factors.step, middle + factors.step}) {
    if (!factors.holds(factor)) continue;
    const Match found = match(sub, scales.scale * float(factor));
    if (!(found.error < least.error)) continue;
    least = found;
    scales.factors[sub] = factor;
  }
  return least;
}

// Sub-scales for kSubs sub-blocks of equal size; match(sub, scale) matches one of them. First each
// takes its own best scale; then factors and common scale improve each other, as levels and scale
// do in find_scale.
template <size_t kSubs, class MatchAt>
SubScales fit_sub_scales(std::span<const float> x, std::span<const float> q, const Reaches& reaches,
                         const Factors& factors, float unit, MatchAt match) {
  const size_t size = x.size() / kSubs;
  std::array<ScaleFit, kSubs> fits;
  for (size_t sub = 0; sub < kSubs; ++sub) {
    const Range range = range_of(x.subspan(sub * size, size), q.subspan(sub * size, size));
    fits[sub] =
        find_scale(range.farthest(), reaches, [&](float scale) { return match(sub, scale); });
  }

  SubScales best;
  float least_error = 0;
  float wanted = nearest_common_scale(fits, factors);
  constexpr int kRounds = 6;
  for (int round = 0; round < kRounds; ++round) {
    SubScales tried;
    tried.set_scale(wanted, unit);
    float error = 0;
    Match sums;  // of the factors times the levels
    for (size_t sub = 0; sub < kSubs; ++sub) {
      tried.factors[sub] = factors.nearest(fits[sub].scale * inverse_of(tried.scale));
      const Match found = improve_factor(tried, sub, factors, match);
      const auto factor = float(tried.factors[sub]);
      error += found.error;
      sums.xl += found.xl * factor;
      sums.ll += found.ll * factor * factor;
    }
    if (round > 0 && !(error < least_error)) break;
    best = tried;
    least_error = error;
    wanted = sums.best_scale();
  }
  return best;
}

}  // namespace evener::quant
