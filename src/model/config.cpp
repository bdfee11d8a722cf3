#include "model/config.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/assert.h"

namespace evener::model {
namespace {

// How much of the unscaled angle each pair keeps under yarn: fast pairs all, slow pairs nothing.
// Source: reference/models/llama.md; 32 and 1 are the rotations that bound the ramp.
double yarn_keep(const RopeConfig& config, size_t pair) {
  const auto dim = static_cast<double>(config.dim);
  const auto edge = [&](double rotations) {
    return dim * std::log(config.original_context / (2 * std::numbers::pi * rotations)) /
           (2 * std::log(config.base));
  };
  const double low = std::max(0.0, std::floor(edge(32)));
  const double high = std::min(dim - 1, std::ceil(edge(1)));
  const double ramp = (static_cast<double>(pair) - low) / std::max(0.001, high - low);
  return 1 - std::clamp(ramp, 0.0, 1.0);
}

}  // namespace

size_t Config::num_recurrent_layers() const {
  return static_cast<size_t>(std::ranges::count(recurrent, true));
}

RopeFrequencies rope_frequencies(const RopeConfig& config) {
  const size_t num_pairs = config.dim / 2;
  EVENER_ASSERT(config.divisors.empty() || config.divisors.size() == num_pairs);
  RopeFrequencies result;
  result.inverse_frequency.resize(num_pairs);
  for (size_t k = 0; k < num_pairs; ++k) {
    double frequency =
        std::pow(config.base, -2.0 * static_cast<double>(k) / static_cast<double>(config.dim));
    if (!config.divisors.empty()) frequency /= static_cast<double>(config.divisors[k]);
    if (config.scaling == RopeConfig::Scaling::linear) frequency /= config.factor;
    if (config.scaling == RopeConfig::Scaling::yarn) {
      const double keep = yarn_keep(config, k);
      frequency *= (1 - keep) / config.factor + keep;
    }
    result.inverse_frequency[k] = frequency;
  }
  double magnitude = config.attn_factor;
  if (config.scaling == RopeConfig::Scaling::yarn) magnitude *= 1 + 0.1 * std::log(config.factor);
  result.magnitude = static_cast<float>(magnitude);
  return result;
}

}  // namespace evener::model
