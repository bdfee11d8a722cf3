#pragma once

#include "bench/experiment.h"

namespace evener::bench {

extern const Experiment kernel_experiment;
extern const Experiment link_experiment;
extern const Experiment sweep_experiment;
extern const Experiment concurrency_experiment;
extern const Experiment load_experiment;
extern const Experiment starvation_experiment;
extern const Experiment prefix_experiment;
extern const Experiment spec_experiment;
extern const Experiment soak_experiment;
extern const Experiment quality_experiment;
extern const Experiment coldstart_experiment;

// The suite. No line of the table: it is all of them.
extern const Experiment all_experiment;
// What it runs them with: small versions that fit the server, where the user has not chosen.
ExperimentOptions suite_options(const ExperimentOptions& asked, const ServerFacts& server);

}  // namespace evener::bench
