#pragma once

#include <cstdint>
#include <span>

namespace evener::device::cpu {

// The experts of the largest `ranks`, falling; of equal ones the lower number first. A rank that is
// not a number is below all that are. As many as `experts` has room for, at most ranks.size(); all
// of them are different.
void choose_experts(std::span<const float> ranks, std::span<int32_t> experts);

struct ChoiceWeights {
  bool renormalise = true;
  float scale = 1;
};

// weights[k] = scores[experts[k]], divided by max(their sum, 2^-14) if they are renormalised, times
// scale.
void weigh_choices(std::span<const float> scores, std::span<const int32_t> experts,
                   const ChoiceWeights& how, std::span<float> weights);

}  // namespace evener::device::cpu
