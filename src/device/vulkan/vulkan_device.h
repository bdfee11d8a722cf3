#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "base/error.h"
#include "device/device.h"

namespace evener::device::vulkan {

struct VulkanOptions {
  size_t adapter = 0;  // Adapter::index
  size_t part = 0;     // which of several devices on one adapter; for the name alone

  // For the card to answer in; 0: a minute, half an hour if it is software.
  std::chrono::nanoseconds deadline{0};

  // The device takes memory and plans its steps, and computes nothing: bench/card_roofline asks
  // what they cost.
  bool is_plan = false;
};

class CardDevice;

// A device on a graphics processor. Errors: unsupported: no Vulkan, or the adapter lacks what is
// needed, saying what; invalid_argument: there is no such adapter; out_of_memory.
Result<std::unique_ptr<Device>> create_vulkan_device(const VulkanOptions& options);
Result<std::unique_ptr<CardDevice>> create_card_device(const VulkanOptions& options);

}  // namespace evener::device::vulkan
