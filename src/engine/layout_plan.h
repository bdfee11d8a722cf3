#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"
#include "gguf/file.h"
#include "parallel/layout.h"

namespace evener::engine {

// Which rank has what, and where.
struct RankPlan {
  parallel::Layout layout;
  std::vector<std::string> devices;  // [ranks]
  std::string why;  // what was chosen and by what, for the log; empty: all was said
};

// That the words agree with each other and with the number of devices, before a file is opened.
// Errors: as parallel::grid_of.
Status check_parallel(const ParallelOptions& options);

// The layout that the options ask for, or the best one where they leave a choice. Devices' speeds
// are measured if they matter, which takes some tenths of a second.
// Errors: as parallel::choose_layout and device::check_devices; as model::describe_model.
Result<RankPlan> plan_ranks(const gguf::File& file, const EngineOptions& options);

// The same for devices that are not this machine's: as if all were alike and had room for it all,
// so that every machine comes to the same. The order is that of the options. Error too:
// invalid_argument: a ratio that is to be measured.
Result<RankPlan> plan_alike(const gguf::File& file, const EngineOptions& options);

// The same for commands without an engine, by what they load.
struct PlanOptions {
  ParallelOptions parallel;
  size_t num_threads = 0;  // of each device
  size_t num_tokens = 0;   // of the one sequence that must fit
  size_t num_rows = 0;     // of the largest pass
  size_t num_logit_rows = 0;
  device::KvType kv_type = device::KvType::f16;
  size_t memory_bytes_max = 0;  // of all devices together; 0: what the machine has
};
Result<RankPlan> plan_ranks(const gguf::File& file, const PlanOptions& options);

}  // namespace evener::engine
