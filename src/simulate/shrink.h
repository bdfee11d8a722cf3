#pragma once

#include "simulate/simulation.h"

namespace evener::simulate {

// A smaller workload that breaks the same invariant: fewer requests, then shorter prompts and
// answers, no faults, no noise and no stages where they are not needed. Tries at most
// `num_runs_max`.
Workload shrink(const Workload& failing, Invariant invariant, size_t num_runs_max = 2000);

}  // namespace evener::simulate
