#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/device.h"

namespace evener::device {

// The device of a name: "cpu:0" is the cores of NUMA node 0, "cpu:0[0-3]" some of them; see
// device/device_name.h. num_threads 0: one per physical core.
// Errors: invalid_argument (unknown kind, node or core; more threads than a group has cores),
// unsupported (this CPU lacks what is needed).
Result<std::unique_ptr<Device>> create_device(std::string_view name, size_t num_threads);

// That all of them exist and no two share a core, before any of them is made. Errors:
// invalid_argument.
Status check_devices(const std::vector<std::string>& names);

}  // namespace evener::device
