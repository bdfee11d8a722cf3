#pragma once

#include <cstddef>
#include <memory>

#include "base/error.h"
#include "cli/command_line.h"
#include "cli/parallel_options.h"
#include "engine/logits_run.h"
#include "gguf/file.h"
#include "model/loader.h"

namespace evener::cli {

// Where a model runs, which every command that computes has: --devices, --threads, ...
struct DeviceOptions {
  ParallelWords parallel;
  size_t num_threads = 0;  // of each device; 0: one per physical core
};

void add_device_options(CommandLine& line, DeviceOptions& options);

// The model over the ranks that were asked for; `options` but for its threads. Errors: as
// ParallelWords::apply, engine::plan_ranks and engine::LogitsRun::create.
Result<engine::LogitsRun> open_run(const std::shared_ptr<const gguf::File>& model,
                                   const DeviceOptions& devices, engine::LogitsRunOptions options,
                                   const model::LoadProgress& progress = {});

}  // namespace evener::cli
