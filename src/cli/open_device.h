#pragma once

#include <cstddef>
#include <memory>

#include "base/error.h"
#include "cli/command_line.h"
#include "cli/parallel_options.h"
#include "device/device.h"

namespace evener::cli {

// Where a model runs, which every command that computes has: --devices, --threads, ...
struct DeviceOptions {
  ParallelWords parallel;
  size_t num_threads = 0;  // of each device; 0: one per physical core
};

void add_device_options(CommandLine& line, DeviceOptions& options);

// Errors: as ParallelWords::apply and create_device; unsupported (several devices).
Result<std::unique_ptr<device::Device>> open_device(const DeviceOptions& options);

}  // namespace evener::cli
