#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "sched/virtual_time.h"
#include "simulate/invariants.h"

namespace evener::simulate {

// Invariants that need a certain story, or several runs held against each other.
struct Scenario {
  const char* name;
  Verdict (*run)();
};
extern const std::array<Scenario, 9> kScenarios;

// The experiment that the project began with (reference/seed-facts.md): an answer is running when
// somebody sends a prompt of 48,000 tokens, read in chunks of 4096 on a machine whose chunks take
// 3.1 s at the beginning of the prompt and 5.1 s at its end.
struct Starvation {
  size_t num_long_gaps = 0;  // of the running answer, over a second
  sched::Duration gap_max{};
  std::optional<sched::Duration> gap_bound;
  sched::Duration prompt_time{};  // until the first token of the prompt's answer
};
struct StarvationOptions {
  std::optional<size_t> max_prefill_steps{};
  sched::Duration max_gap = std::chrono::milliseconds(400);  // without max_prefill_steps
  double decode_share = 0.5;
};
Starvation starve(const StarvationOptions& options);

}  // namespace evener::simulate
