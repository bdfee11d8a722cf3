#include "cli/open_device.h"

#include "device/create_device.h"

namespace evener::cli {

void add_device_options(CommandLine& line, DeviceOptions& options) {
  line.add("--device", options.device, "cpu:N computes on the cores of NUMA node N");
  line.add("--threads", options.num_threads, "threads that compute; 0: one per physical core")
      .between(0, 1024);
}

Result<std::unique_ptr<device::Device>> open_device(const DeviceOptions& options) {
  return device::create_device(options.device, options.num_threads);
}

}  // namespace evener::cli
