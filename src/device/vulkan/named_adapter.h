#pragma once

#include "base/error.h"
#include "device/device_name.h"
#include "device/vulkan/adapter.h"

namespace evener::device::vulkan {

// The adapter that a name of the kind vulkan means. Errors: as Instance::get and find_adapter.
Result<Adapter> named_adapter(const DeviceName& name);

// Says in the log, once a process, if what is used is no card but the CPU.
void warn_of_software(const Adapter& adapter);

}  // namespace evener::device::vulkan
