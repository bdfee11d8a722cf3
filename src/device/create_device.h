#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/device.h"

namespace evener::device {

// The device of a name: "cpu:0" is the cores of NUMA node 0, "cpu:0[0-3]" some of them, "vulkan:0"
// a card; see device/device_name.h. num_threads is of CPUs; 0: one per physical core.
// Errors: invalid_argument (unknown kind, node, core or card; more threads than a group has cores),
// unsupported (this CPU or card lacks what is needed; no Vulkan), out_of_memory.
Result<std::unique_ptr<Device>> create_device(std::string_view name, size_t num_threads);

// That all of them exist and can be used, and that no two share a core or are one device on a card,
// before any of them is made. Errors: invalid_argument, unsupported.
Status check_devices(const std::vector<std::string>& names);

}  // namespace evener::device
