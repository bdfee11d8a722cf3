#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "base/error.h"
#include "bench/client.h"
#include "bench/experiment_options.h"
#include "bench/prompts.h"
#include "bench/recorder.h"
#include "bench/server.h"

namespace evener::bench {

// What an experiment is given. `client`, `server` and `prompts` are null for those that measure the
// machine itself.
struct Bench {
  Client* client = nullptr;
  Server* server = nullptr;
  Prompts* prompts = nullptr;
  Recorder& recorder;
  const ExperimentOptions& options;
  const std::atomic<bool>& stop;  // Ctrl-C: end the cell as partial, keep what is there
  // Progress for people: "sweep, 8192 tokens, round 2 of 3".
  std::function<void(const std::string& what, double fraction)> progress;
};

// One experiment: one file of experiments/ and one line in experiments.cpp.
struct Experiment {
  const char* name;
  const char* summary;
  bool needs_server;
  // Records all it sees with `recorder`. An error is one that makes the rest of it senseless
  // (server gone, disk full); what went wrong with a cell is a finding.
  Status (*run)(Bench& bench);
};

extern const Experiment* const kExperiments[];
extern const size_t kNumExperiments;

}  // namespace evener::bench
