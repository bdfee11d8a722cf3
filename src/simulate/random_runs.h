#pragma once

#include <cstdint>
#include <optional>

#include "base/function_ref.h"
#include "simulate/simulation.h"

namespace evener::simulate {

// What many runs came to.
struct RunsReport {
  Verdict verdict;  // its breach is that of failing_seed
  std::optional<unsigned> failing_seed;
  uint64_t num_runs = 0;
  uint64_t num_requests = 0;
  uint64_t num_steps = 0;
  uint64_t num_tokens = 0;  // rows
  uint64_t num_cancelled = 0;
  uint64_t num_failed = 0;   // running when the device lost what it held
  uint64_t num_refused = 0;  // too large, queue full, displaced, timed out
  uint64_t num_retractions = 0;
  uint64_t num_failed_steps = 0;
  uint64_t num_failed_loads = 0;
  uint64_t tokens_matched = 0;
};

// The stages of the machine that a seed is run on: 1 to 4 in turn, if `num_stages` is 0.
size_t stages_of(unsigned seed, size_t num_stages);

// Runs random workloads with the seeds from `first_seed` on, on all cores, until one breaks an
// invariant, each on as many stages as stages_of() says. `advance(num_done)` is called now and then
// from the calling thread; false: stop. Should one of our own assertions end the process, the seed
// is on stderr.
RunsReport run_random(unsigned first_seed, uint64_t num_runs, size_t num_stages,
                      FunctionRef<bool(uint64_t num_done)> advance);

}  // namespace evener::simulate
