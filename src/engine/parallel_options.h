#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "device/choose_link.h"
#include "parallel/fault.h"
#include "parallel/layout.h"

namespace evener::engine {

// Over which devices a model runs, and how it is cut.
struct ParallelOptions {
  std::vector<std::string> devices = {"cpu:0"};  // one a rank; names as device/create_device.h
  size_t num_shards = 0;                         // --tp: ranks that share a layer; 0: see below
  size_t num_stages = 0;                         // --stages: groups of layers; 0: see below
  std::vector<size_t> borders = {};              // --split: first layer of every further stage
  std::vector<double> ratio = {};                // --ratio: what the shards of a stage get
  bool measure_ratio = false;                    // --ratio auto: by speed and memory, measured
  parallel::ExpertCut experts = parallel::ExpertCut::automatic;
  device::PeerUse peer = device::PeerUse::automatic;  // --peer: whether cards go past the host

  // With neither shards nor stages given, as many shards as there are devices; with one of the two,
  // the other is what remains.

  // A rank that shows no sign of life for so long is given up.
  std::chrono::milliseconds rank_deadline{10000};
  size_t max_restarts = 3;  // of the ranks in an hour
  bool fallback = false;    // after them: a layout without the ranks that failed, if it fits
  std::optional<parallel::FaultPlan> fault = {};  // on purpose, as a drill
};

}  // namespace evener::engine
