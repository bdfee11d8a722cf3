#include "cli/open_device.h"

#include <CLI/CLI.hpp>

#include "device/create_device.h"

namespace evener::cli {

void add_device_options(CLI::App& app, DeviceOptions& options) {
  app.add_option("--device", options.device, "cpu:N computes on the cores of NUMA node N")
      ->capture_default_str();
  app.add_option("--threads", options.num_threads, "threads that compute; 0: one per physical core")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
}

Result<std::unique_ptr<device::Device>> open_device(const DeviceOptions& options) {
  return device::create_device(options.device, options.num_threads);
}

}  // namespace evener::cli
