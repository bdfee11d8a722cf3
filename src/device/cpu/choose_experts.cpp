#include "device/cpu/choose_experts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/assert.h"

namespace evener::device::cpu {

// Kept sorted while all candidates pass in order of number: one that is not strictly better stays
// behind those that came before it.
void choose_experts(std::span<const float> ranks, std::span<int32_t> experts) {
  EVENER_ASSERT(experts.size() <= ranks.size());
  const auto is_better = [&](size_t candidate, int32_t chosen) {
    const float other = ranks[size_t(chosen)];
    return ranks[candidate] > other || (std::isnan(other) && !std::isnan(ranks[candidate]));
  };
  size_t count = 0;
  for (size_t candidate = 0; candidate < ranks.size(); ++candidate) {
    size_t slot = count;
    while (slot > 0 && is_better(candidate, experts[slot - 1])) --slot;
    if (slot == experts.size()) continue;
    if (count < experts.size()) ++count;
    std::copy_backward(experts.begin() + std::ptrdiff_t(slot),
                       experts.begin() + std::ptrdiff_t(count) - 1,
                       experts.begin() + std::ptrdiff_t(count));
    experts[slot] = int32_t(candidate);
  }
}

void weigh_choices(std::span<const float> scores, std::span<const int32_t> experts,
                   const ChoiceWeights& how, std::span<float> weights) {
  float sum = 0;
  for (size_t k = 0; k < experts.size(); ++k) {
    weights[k] = scores[size_t(experts[k])];
    sum += weights[k];
  }
  const float divisor = how.renormalise ? std::max(sum, 0x1p-14f) : 1;
  for (float& weight : weights) weight = weight / divisor * how.scale;
}

}  // namespace evener::device::cpu
