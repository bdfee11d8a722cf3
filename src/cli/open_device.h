#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/command_line.h"
#include "device/device.h"

namespace evener::cli {

// --device and --threads, which every command that computes has.
struct DeviceOptions {
  std::string device = "cpu:0";
  size_t num_threads = 0;  // 0: one per physical core
};

void add_device_options(CommandLine& line, DeviceOptions& options);

Result<std::unique_ptr<device::Device>> open_device(const DeviceOptions& options);

}  // namespace evener::cli
