#include "cli/open_device.h"

#include "device/create_device.h"

namespace evener::cli {

void add_device_options(CommandLine& line, DeviceOptions& options) {
  options.parallel.add_to(line);
  line.add("--threads", options.num_threads,
           "threads that compute on each device; 0: one per physical core")
      .between(0, 1024);
}

Result<std::unique_ptr<device::Device>> open_device(const DeviceOptions& options) {
  engine::ParallelOptions parallel;
  RETURN_IF_ERROR(options.parallel.apply(parallel));
  if (parallel.devices.size() > 1) {
    return Error{.code = Code::unsupported,
                 .doing = "open devices",
                 .where = "--devices",
                 .why = "this command runs on one device as yet",
                 .remedy = "name one"};
  }
  return device::create_device(parallel.devices.front(), options.num_threads);
}

}  // namespace evener::cli
