#pragma once

#include <cstddef>
#include <cstdint>

#include "device/vulkan/api.h"

namespace evener::device::vulkan {

// One allocation of the driver as one buffer over all of it, with an address for shaders. Made in
// two steps, between which the driver says what the buffer needs.
struct GpuMemory {
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t address = 0;
  std::byte* host = nullptr;  // where the host sees it; null if it does not
  size_t size_bytes = 0;
  bool is_on_host = false;
};

// What kernels and copies do with buffers.
inline constexpr VkBufferUsageFlags kBufferUsage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
    VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

// A buffer of so many bytes. `next` extends its VkBufferCreateInfo.
VkResult make_buffer(const DeviceApi& api, VkDevice device, size_t size_bytes, const void* next,
                     GpuMemory& memory);

VkMemoryRequirements needs_of(const DeviceApi& api, VkDevice device, const GpuMemory& memory);

struct Backing {
  size_t size_bytes = 0;
  uint32_t memory_type = 0;
  bool is_dedicated = false;   // to one buffer
  const void* next = nullptr;  // extends its VkMemoryAllocateInfo
};

// Memory for the buffer, bound to it. memory.memory is set as soon as there is some, also if it
// cannot be bound.
VkResult back(const DeviceApi& api, VkDevice device, const Backing& backing, GpuMemory& memory);

}  // namespace evener::device::vulkan
