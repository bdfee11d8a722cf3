#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/function_ref.h"
#include "device/device.h"

namespace evener::bench {

// One operation of a device but linear, at a size of real models.
struct OpCase {
  std::string name;  // "attention decode at 2048, 16/8x128 f16"
  enum class Work : uint8_t {
    bytes,         // moved, most of them within caches
    memory_bytes,  // read from memory, whatever the caches
    flops,
    int8_ops,
  } unit;
  double work;  // of one call
  std::function<void()> call;
};

// Makes each case and what it needs, and hands it to `use`, which may keep nothing of it. Errors:
// those of the device; what `use` returns ends the walk.
Status each_op_case(device::Device& device, FunctionRef<Status(const OpCase&)> use);

}  // namespace evener::bench
