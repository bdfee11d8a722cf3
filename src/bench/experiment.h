#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/error.h"
#include "bench/client.h"
#include "bench/experiment_options.h"
#include "bench/prompts.h"
#include "bench/recorder.h"
#include "bench/server.h"

namespace evener::bench {

// What an experiment is given. Null is what it does not need: see Needs.
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

enum class Needs : uint8_t {
  nothing,  // measures the machine: neither client, server nor prompts
  address,  // a client; the server is started by the experiment and need not run
  server,   // all three
};

// What one request of the server has shown, for guesses at how long things take. Never a result.
struct Speed {
  double prefill_tokens_per_s = 0;
  double decode_tokens_per_s = 0;

  std::chrono::duration<double> time(uint64_t num_tokens_in, uint64_t num_tokens_out) const {
    return std::chrono::duration<double>(static_cast<double>(num_tokens_in) / prefill_tokens_per_s +
                                         static_cast<double>(num_tokens_out) / decode_tokens_per_s);
  }
};

// One experiment: one file of experiments/ and one line in experiments.cpp.
struct Experiment {
  const char* name;
  const char* summary;
  Needs needs;
  // Records all it sees with `recorder`. An error is one that makes the rest of it senseless
  // (server gone, disk full); what went wrong with a cell is a finding.
  Status (*run)(Bench& bench);
  // How long it will take, told to the user beforehand. Null: cannot be said. `speed` is of no use
  // to experiments that need no server.
  std::chrono::duration<double> (*expected_time)(const Bench& bench, const Speed& speed) = nullptr;
};

std::span<const Experiment* const> experiments();

}  // namespace evener::bench
