#include "quant/k_fit.h"

#include <algorithm>
#include <cmath>

#include "quant/levels.h"
#include "quant/scale_search.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

constexpr size_t kSubs = 8;
constexpr size_t kSubSize = 32;
constexpr int kFactorMax = 63;

// Sums over a sub-block with the codes c that a line gives.
struct Sums {
  float error = 0;  // of q (x - scale c + min)^2
  float q = 0;      // of q
  float c = 0;      // of q c
  float cc = 0;     // of q c^2
  float x = 0;      // of q x
  float xc = 0;     // of q x c

  // Of all lines with these codes, the one with the smallest error.
  Line best_line() const {
    const float determinant = q * cc - c * c;
    if (determinant > 0) {
      const float scale = (q * xc - c * x) / determinant;
      const Line line{.scale = scale, .min = best_min(scale)};
      if (line.scale >= 0 && line.min > 0) return line;
    }
    return {.scale = cc > 0 ? std::max(0.0f, xc / cc) : 0, .min = 0};
  }
  // For a given scale.
  float best_min(float scale) const { return q > 0 ? std::max(0.0f, (scale * c - x) / q) : 0; }
};

Sums match_line(std::span<const float> x, std::span<const float> q, float highest, Line line) {
  constexpr size_t kLanes = 8;
  const WholeLevels levels{.lowest = 0, .highest = highest};
  const float inverse = inverse_of(line.scale);
  float error[kLanes] = {};
  float sum_q[kLanes] = {};
  float sum_c[kLanes] = {};
  float sum_cc[kLanes] = {};
  float sum_x[kLanes] = {};
  float sum_xc[kLanes] = {};
  for (size_t i = 0; i < kSubSize; i += kLanes) {
    for (size_t j = 0; j < kLanes; ++j) {
      const float code = levels.nearest((x[i + j] + line.min) * inverse);
      const float miss = x[i + j] - (line.scale * code - line.min);
      const float counted = q[i + j] * code;
      error[j] += q[i + j] * miss * miss;
      sum_q[j] += q[i + j];
      sum_c[j] += counted;
      sum_cc[j] += counted * code;
      sum_x[j] += q[i + j] * x[i + j];
      sum_xc[j] += counted * x[i + j];
    }
  }
  Sums sums;
  for (size_t j = 0; j < kLanes; ++j) {
    sums.error += error[j];
    sums.q += sum_q[j];
    sums.c += sum_c[j];
    sums.cc += sum_cc[j];
    sums.x += sum_x[j];
    sums.xc += sum_xc[j];
  }
  return sums;
}

struct LineFit {
  Line line;
  Sums sums;
};

// The best line for one sub-block. The first ones tried span more or less of the weights' range.
LineFit find_line(std::span<const float> x, std::span<const float> q, float highest) {
  const Range range = range_of(x, q);
  const float low = std::min(range.low, 0.0f);
  const float middle = (low + range.high) / 2;
  LineFit best;
  best.sums = match_line(x, q, highest, best.line);
  const auto try_line = [&](Line line) {
    const LineFit fit{.line = line, .sums = match_line(x, q, highest, line)};
    const bool better = fit.sums.error < best.sums.error;
    if (better) best = fit;
    return better;
  };
  // Parts of the way from the middle to the two ends. More than all of it means that no weight
  // takes the last code.
  constexpr float kParts[] = {1.04f, 0.99f, 0.94f, 0.88f, 0.82f, 0.74f};
  for (const float low_part : kParts) {
    for (const float high_part : kParts) {
      const float from = std::min(0.0f, middle + (low - middle) * low_part);
      const float to = middle + (range.high - middle) * high_part;
      const Line line{.scale = (to - from) / highest, .min = -from};
      try_line(match_line(x, q, highest, line).best_line());
    }
  }
  constexpr int kRefinements = 8;
  for (int i = 0; i < kRefinements && try_line(best.sums.best_line()); ++i) {
  }
  return best;
}

uint8_t nearest_factor(float value, float unit) {
  const WholeLevels factors{.lowest = 0, .highest = kFactorMax};
  return uint8_t(factors.nearest(value * inverse_of(unit)));
}

// The unit, of those that make some factor of the largest value, whose multiples come closest to
// all values. Being off costs the square times the weight.
float nearest_unit(const std::array<float, kSubs>& values, const std::array<float, kSubs>& costs) {
  const float largest = std::ranges::max(values);
  float best = 0;
  float least = 0;
  for (int factor = kFactorMax; factor > 0; --factor) {
    const float unit = largest / float(factor);
    float error = 0;
    for (size_t s = 0; s < kSubs; ++s) {
      const float miss = values[s] - unit * float(nearest_factor(values[s], unit));
      error += miss * miss * costs[s];
    }
    if (best != 0 && !(error < least)) continue;
    best = unit;
    least = error;
  }
  return best;
}

// Scale and min of the whole block.
struct Units {
  float scale;
  float min;
};

Units first_units(const std::array<LineFit, kSubs>& fits) {
  std::array<float, kSubs> values;
  std::array<float, kSubs> costs;
  for (size_t s = 0; s < kSubs; ++s) {
    const Sums& sums = fits[s].sums;
    values[s] = fits[s].line.scale;
    costs[s] = sums.q > 0 ? sums.cc - sums.c * sums.c / sums.q : 0;  // the min follows the scale
  }
  const float scale = nearest_unit(values, costs);
  for (size_t s = 0; s < kSubs; ++s) {
    const Sums& sums = fits[s].sums;
    values[s] = sums.best_min(scale * float(nearest_factor(fits[s].line.scale, scale)));
    costs[s] = sums.q;
  }
  return {.scale = scale, .min = nearest_unit(values, costs)};
}

// The units that are best for given codes and factors: the sums of a line's equations, over all
// sub-blocks.
class UnitSums {
 public:
  void add(const Sums& sums, float scale_factor, float min_factor) {
    ss_ += double(sums.cc) * scale_factor * scale_factor;
    sm_ += double(sums.c) * scale_factor * min_factor;
    mm_ += double(sums.q) * min_factor * min_factor;
    xs_ += double(sums.xc) * scale_factor;
    xm_ += double(sums.x) * min_factor;
  }
  Units best() const {
    const double determinant = ss_ * mm_ - sm_ * sm_;
    if (determinant > 0) {
      const double scale = (mm_ * xs_ - sm_ * xm_) / determinant;
      const double min = (sm_ * scale - xm_) / mm_;
      if (scale >= 0 && min >= 0) return {.scale = float(scale), .min = float(min)};
    }
    return {.scale = ss_ > 0 ? float(std::max(0.0, xs_ / ss_)) : 0, .min = 0};
  }

 private:
  double ss_ = 0;
  double sm_ = 0;
  double mm_ = 0;
  double xs_ = 0;
  double xm_ = 0;
};

// The best factors for sub-block `sub` near those that its own line asks for, which become its.
Sums choose_factors(KScales& scales, size_t sub, const LineFit& fit, std::span<const float> x,
                    std::span<const float> q, float highest) {
  const float unit = f16_to_f32(scales.scale);
  const float min_unit = f16_to_f32(scales.min);
  const int middle = nearest_factor(fit.line.scale, unit);
  Sums best;
  bool any = false;
  for (int factor = std::max(0, middle - 1); factor <= std::min(kFactorMax, middle + 1); ++factor) {
    const int min_middle = nearest_factor(fit.sums.best_min(unit * float(factor)), min_unit);
    for (int min_factor = std::max(0, min_middle - 1);
         min_factor <= std::min(kFactorMax, min_middle + 1); ++min_factor) {
      const Line line{.scale = unit * float(factor), .min = min_unit * float(min_factor)};
      const Sums sums = match_line(x, q, highest, line);
      if (any && !(sums.error < best.error)) continue;
      any = true;
      best = sums;
      scales.sub_scales[sub] = uint8_t(factor);
      scales.sub_mins[sub] = uint8_t(min_factor);
    }
  }
  return best;
}

}  // namespace

int Line::code(float x, float highest) const {
  return WholeLevels{.lowest = 0, .highest = highest}.code((x + min) * inverse_of(scale));
}

Line KScales::line(size_t sub) const {
  return {.scale = f16_to_f32(scale) * float(sub_scales[sub]),
          .min = f16_to_f32(min) * float(sub_mins[sub])};
}

KScales fit_k_scales(std::span<const float> x, std::span<const float> q, float highest) {
  const auto part = [](std::span<const float> all, size_t sub) {
    return all.subspan(sub * kSubSize, kSubSize);
  };
  std::array<LineFit, kSubs> fits;
  for (size_t sub = 0; sub < kSubs; ++sub)
    fits[sub] = find_line(part(x, sub), part(q, sub), highest);

  KScales best;
  float least_error = 0;
  Units units = first_units(fits);
  constexpr int kRounds = 6;
  for (int round = 0; round < kRounds; ++round) {
    KScales tried{.scale = finite_half(units.scale),
                  .min = finite_half(units.min),
                  .sub_scales = {},
                  .sub_mins = {}};
    float error = 0;
    UnitSums sums;
    for (size_t sub = 0; sub < kSubs; ++sub) {
      const Sums chosen =
          choose_factors(tried, sub, fits[sub], part(x, sub), part(q, sub), highest);
      error += chosen.error;
      sums.add(chosen, float(tried.sub_scales[sub]), float(tried.sub_mins[sub]));
    }
    if (round > 0 && !(error < least_error)) break;
    best = tried;
    least_error = error;
    units = sums.best();
  }
  return best;
}

}  // namespace evener::quant
