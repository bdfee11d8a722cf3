#include "quant/sub_scales.h"

#include <cmath>

#include "quant/levels.h"
#include "tensor/float16.h"

namespace evener::quant {

int Factors::nearest(float value) const {
  const WholeLevels steps{.lowest = 0, .highest = float((last - first) / step)};
  return first + step * steps.code((value - float(first)) / float(step));
}

void SubScales::set_scale(float wanted, float unit) {
  half = finite_half(wanted / unit);
  scale = f16_to_f32(half) * unit;
}

float nearest_common_scale(std::span<const ScaleFit> fits, const Factors& factors) {
  float extreme = 0;
  for (const ScaleFit& fit : fits) {
    if (std::abs(fit.scale) > std::abs(extreme)) extreme = fit.scale;
  }
  float best = 0;
  double least = 0;
  for (int factor = factors.first; factor <= factors.last; factor += factors.step) {
    if (factor == 0) continue;
    const float scale = extreme / float(factor);
    double error = 0;  // for levels that stay, it grows with the square of the distance
    for (const ScaleFit& fit : fits) {
      const int multiple = factors.nearest(fit.scale * inverse_of(scale));
      const double miss = double(fit.scale) - double(scale) * multiple;
      error += miss * miss * double(fit.match.ll);
    }
    if (best != 0 && !(error < least)) continue;
    best = scale;
    least = error;
  }
  return best;
}

}  // namespace evener::quant
