#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

// The functions of Vulkan that are used, by what they are asked for with. The loader is opened at
// run time: the program starts on machines that have none.
#define EVENER_VULKAN_GLOBAL(f)                                   \
  f(EnumerateInstanceVersion) f(EnumerateInstanceLayerProperties) \
      f(EnumerateInstanceExtensionProperties) f(CreateInstance)

#define EVENER_VULKAN_INSTANCE(f)                                                          \
  f(DestroyInstance) f(EnumeratePhysicalDevices) f(GetPhysicalDeviceProperties2)           \
      f(GetPhysicalDeviceFeatures2) f(GetPhysicalDeviceMemoryProperties2)                  \
          f(GetPhysicalDeviceQueueFamilyProperties2) f(EnumerateDeviceExtensionProperties) \
              f(CreateDevice) f(GetDeviceProcAddr) f(GetPhysicalDeviceExternalBufferProperties)

#define EVENER_VULKAN_DEVICE(f)                                                                   \
  f(DestroyDevice) f(GetDeviceQueue) f(AllocateMemory) f(FreeMemory) f(MapMemory) f(CreateBuffer) \
      f(DestroyBuffer) f(GetBufferMemoryRequirements) f(BindBufferMemory)                         \
          f(GetBufferDeviceAddress) f(CreateShaderModule) f(DestroyShaderModule)                  \
              f(CreatePipelineLayout) f(DestroyPipelineLayout) f(CreatePipelineCache)             \
                  f(DestroyPipelineCache) f(GetPipelineCacheData) f(CreateComputePipelines)       \
                      f(DestroyPipeline) f(CreateCommandPool) f(DestroyCommandPool)               \
                          f(AllocateCommandBuffers) f(FreeCommandBuffers) f(BeginCommandBuffer)   \
                              f(EndCommandBuffer) f(CmdBindPipeline) f(CmdPushConstants)          \
                                  f(CmdDispatch) f(CmdCopyBuffer) f(CmdFillBuffer)                \
                                      f(CmdPipelineBarrier) f(CmdResetQueryPool)                  \
                                          f(CmdWriteTimestamp) f(CreateQueryPool)                 \
                                              f(DestroyQueryPool) f(GetQueryPoolResults)          \
                                                  f(CreateSemaphore) f(DestroySemaphore)          \
                                                      f(WaitSemaphores) f(QueueSubmit)            \
                                                          f(DeviceWaitIdle)

// Those of extensions: null where the device was not made with them.
#define EVENER_VULKAN_DEVICE_OPTIONAL(f) f(GetMemoryFdKHR) f(GetMemoryFdPropertiesKHR)

namespace evener::device::vulkan {

#define EVENER_VULKAN_MEMBER(name) PFN_vk##name name = nullptr;

struct GlobalApi {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
  EVENER_VULKAN_GLOBAL(EVENER_VULKAN_MEMBER)
};

struct InstanceApi {
  EVENER_VULKAN_INSTANCE(EVENER_VULKAN_MEMBER)
  PFN_vkCreateDebugUtilsMessengerEXT CreateDebugUtilsMessengerEXT = nullptr;
  PFN_vkDestroyDebugUtilsMessengerEXT DestroyDebugUtilsMessengerEXT = nullptr;
};

struct DeviceApi {
  EVENER_VULKAN_DEVICE(EVENER_VULKAN_MEMBER)
  EVENER_VULKAN_DEVICE_OPTIONAL(EVENER_VULKAN_MEMBER)
};

#undef EVENER_VULKAN_MEMBER

// "VK_ERROR_DEVICE_LOST", for messages.
const char* result_name(VkResult result);

}  // namespace evener::device::vulkan
