#pragma once

#include <functional>
#include <memory>

#include "base/work_times.h"
#include "device/device.h"

namespace evener::device {

struct DeviceWatch {
  std::shared_ptr<WorkTimes> times = {};  // gets the time of each call; null: nobody wants it
  std::function<void()> before_call =
      {};  // a sign of life, say, given in long waits too; may be empty
};

// A device that hands every call to another, on the same thread. Of one that records operations
// only the waits would be seen: if it measures itself, it is given the times. Making weights,
// buffers and caches is neither counted nor announced.
std::unique_ptr<Device> watch_device(std::shared_ptr<Device> device, DeviceWatch watch);

}  // namespace evener::device
