#include <array>

#include "bench/experiment.h"

namespace evener::bench {

extern const Experiment kernel_experiment;
extern const Experiment link_experiment;

namespace {

constexpr std::array<const Experiment*, 2> kExperiments = {
    &kernel_experiment,
    &link_experiment,
};

}  // namespace

std::span<const Experiment* const> experiments() { return kExperiments; }

}  // namespace evener::bench
