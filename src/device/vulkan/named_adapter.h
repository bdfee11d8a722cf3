#pragma once

#include "base/error.h"
#include "device/device_name.h"
#include "device/vulkan/adapter.h"

namespace evener::device::vulkan {

// The adapter that a name of the kind vulkan means. Errors: as Instance::get and find_adapter.
Result<Adapter> named_adapter(const DeviceName& name);

// That it can compute for us. Error: unsupported, naming what it lacks.
Status check_usable(const Adapter& adapter);

// "vulkan:0": how it is called whatever words have named it.
std::string place_of(const Adapter& adapter);

// Says in the log, once a process, if what is used is no card but the CPU.
void warn_of_software(const Adapter& adapter);

}  // namespace evener::device::vulkan
