#include "tensor/arg_max.h"

#include <cfloat>
#include <limits>

namespace evener {

std::optional<size_t> arg_max(std::span<const float> values) {
  std::optional<size_t> best;
  float best_value = -std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] > best_value) || values[i] > FLT_MAX) continue;  // NaN fails the first test
    best_value = values[i];
    best = i;
  }
  return best;
}

}  // namespace evener
