#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace evener::device {

struct DeviceMemory {
  std::string place;        // "node 0", "vulkan:0": devices that say the same share one memory
  size_t total_bytes = 0;   // that this process may use
  size_t free_bytes = 0;    // now
  bool is_of_host = false;  // taken from the machine's memory, as that of a software adapter is
};

// The memory that a device of that name has. From what is free on a card, a reserve for others is
// taken off: 256 MiB, or 768 MiB where a display is connected. Errors: as check_devices, but that
// names are not compared.
Result<DeviceMemory> device_memory(std::string_view name);

// What computes there: devices that say the same are equally fast. "AMD EPYC, 8", "AMD Radeon RX
// 7900 XTX (RADV NAVI31)". Errors: as device_memory.
Result<std::string> device_model(std::string_view name, size_t num_threads);

}  // namespace evener::device
