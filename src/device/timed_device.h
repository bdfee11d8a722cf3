#pragma once

#include <memory>

#include "base/work_times.h"
#include "device/device.h"

namespace evener::device {

// A device that hands every call to another and adds its time to `times`, which outlives it. Meant
// for devices that compute at once: of one that records operations only the waits would be seen.
// Making weights, buffers and caches is not counted.
std::unique_ptr<Device> time_device(std::unique_ptr<Device> device, WorkTimes& times);

}  // namespace evener::device
