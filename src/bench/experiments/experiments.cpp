#include <array>

#include "bench/experiment.h"

namespace evener::bench {
namespace {

constexpr std::array<const Experiment*, 0> kExperiments = {};

}  // namespace

std::span<const Experiment* const> experiments() { return kExperiments; }

}  // namespace evener::bench
