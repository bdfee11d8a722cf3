#include "bench/experiments/experiments.h"

#include <array>

namespace evener::bench {
namespace {

// In the order in which `all` runs them and reports tell them.
constexpr auto kExperiments = std::to_array<const Experiment*>({
    &kernel_experiment,
    &link_experiment,
    &sweep_experiment,
    &concurrency_experiment,
    &load_experiment,
    &starvation_experiment,
    &prefix_experiment,
    &spec_experiment,
    &soak_experiment,
    &quality_experiment,
    &coldstart_experiment,
});

}  // namespace

std::span<const Experiment* const> experiments() { return kExperiments; }

}  // namespace evener::bench
