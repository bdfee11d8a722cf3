#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "device/device.h"

namespace evener::device {

// The device of a name: "cpu:0" is the cores of NUMA node 0. num_threads 0: one per physical core.
// Errors: invalid_argument (unknown kind or number), unsupported (this CPU lacks what is needed).
Result<std::unique_ptr<Device>> create_device(std::string_view name, size_t num_threads);

}  // namespace evener::device
