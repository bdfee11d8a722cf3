#include "device/vulkan/gpu_memory.h"

namespace evener::device::vulkan {

VkResult make_buffer(const DeviceApi& api, VkDevice device, size_t size_bytes, const void* next,
                     GpuMemory& memory) {
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.pNext = next;
  info.size = size_bytes;
  info.usage = kBufferUsage;
  memory.size_bytes = size_bytes;
  return api.CreateBuffer(device, &info, nullptr, &memory.buffer);
}

VkMemoryRequirements needs_of(const DeviceApi& api, VkDevice device, const GpuMemory& memory) {
  VkMemoryRequirements needs{};
  api.GetBufferMemoryRequirements(device, memory.buffer, &needs);
  return needs;
}

VkResult back(const DeviceApi& api, VkDevice device, const Backing& backing, GpuMemory& memory) {
  VkMemoryDedicatedAllocateInfo dedicated{};
  dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
  dedicated.pNext = backing.next;
  dedicated.buffer = memory.buffer;
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.pNext = backing.is_dedicated ? &dedicated : backing.next;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = &flags;
  info.allocationSize = backing.size_bytes;
  info.memoryTypeIndex = backing.memory_type;
  VkResult result = api.AllocateMemory(device, &info, nullptr, &memory.memory);
  if (result != VK_SUCCESS) {
    memory.memory = VK_NULL_HANDLE;  // drivers may leave anything there
    return result;
  }
  result = api.BindBufferMemory(device, memory.buffer, memory.memory, 0);
  if (result != VK_SUCCESS) return result;
  VkBufferDeviceAddressInfo address{};
  address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  address.buffer = memory.buffer;
  memory.address = api.GetBufferDeviceAddress(device, &address);
  return VK_SUCCESS;
}

}  // namespace evener::device::vulkan
