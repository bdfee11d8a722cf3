#pragma once

#include <string>

#include "bench/caliber.h"
#include "bench/cpu_share.h"
#include "bench/experiment.h"

namespace evener::bench {

// tool.version, tool.commit
Caliber tool_caliber();

// method.: what every measurement does for its figures, on this server. `cpus` is how the
// processors were divided; empty: not at all.
Caliber method_caliber(const ExperimentOptions& options, const ServerFacts& facts,
                       const CpuShare& cpus);

// option.: what was asked of experiment `name`, by the names of ExperimentOptions
// ("option.load.burstiness"); of all experiments for "all". What was left to the experiment to
// choose is absent.
Caliber option_caliber(const ExperimentOptions& options, const std::string& name);

}  // namespace evener::bench
