#include "device/vulkan/gpu.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/text.h"

namespace evener::device::vulkan {
namespace {

Error cannot_open(const Adapter& adapter, std::string why, std::string remedy) {
  return Error{.code = Code::unsupported,
               .doing = "open device",
               .where = title_of(adapter),
               .why = std::move(why),
               .remedy = std::move(remedy)};
}

const char* name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::device:
      return "the card's memory";
    case MemoryKind::upload:
      return "memory that host and card share";
    case MemoryKind::readback:
    case MemoryKind::staging:
      break;
  }
  return "host memory that the card reaches";
}

}  // namespace

Result<std::shared_ptr<Gpu>> Gpu::create(std::shared_ptr<Instance> instance, size_t adapter) {
  if (adapter >= instance->adapters().size()) {
    return Error{.code = Code::invalid_argument,
                 .doing = "open device",
                 .where = fmt::format("vulkan:{}", adapter),
                 .why = fmt::format("there are {} adapters", instance->adapters().size()),
                 .remedy = "`evener devices` lists them"};
  }
  std::shared_ptr<Gpu> gpu(new Gpu(std::move(instance), adapter));
  RETURN_IF_ERROR(gpu->open());
  return gpu;
}

Status Gpu::open() {
  RETURN_IF_ERROR(check_usable(adapter()));
  const InstanceApi& api = instance_->api();
  VkPhysicalDevice physical = instance_->physical_device(adapter_);
  constexpr float kPriority = 1;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = queue_family();
  queue.queueCount = 1;
  queue.pQueuePriorities = &kPriority;
  VkPhysicalDeviceVulkan13Features in_13{};
  in_13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  in_13.shaderIntegerDotProduct = VK_TRUE;
  in_13.maintenance4 = VK_TRUE;
  VkPhysicalDeviceVulkan12Features in_12{};
  in_12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  in_12.pNext = &in_13;
  in_12.bufferDeviceAddress = VK_TRUE;
  in_12.scalarBlockLayout = VK_TRUE;
  in_12.timelineSemaphore = VK_TRUE;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &in_12;
  features.features.shaderInt64 = VK_TRUE;
  std::vector<const char*> extensions;
  if (adapter().shares_memory_by_fd) {
    extensions.push_back(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
  }
  if (adapter().shares_memory_as_dma_buf) {
    extensions.push_back(VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME);
  }
  if (adapter().hands_over_to_foreign_queues) {
    extensions.push_back(VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME);
  }
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = uint32_t(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  if (const VkResult result = api.CreateDevice(physical, &info, nullptr, &device_);
      result != VK_SUCCESS) {
    return cannot_open(adapter(), result_name(result), "see `dmesg`; the driver may need a reset");
  }
  RETURN_IF_ERROR(load_functions());
  api_.GetDeviceQueue(device_, queue_family(), 0, &queue_);

  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  api.GetPhysicalDeviceMemoryProperties2(physical, &memory);
  memory_types_ = memory.memoryProperties;
  return {};
}

Status Gpu::load_functions() {
  const auto get = instance_->api().GetDeviceProcAddr;
#define EVENER_LOAD(name)                                                          \
  api_.name = reinterpret_cast<PFN_vk##name>(get(device_, "vk" #name));            \
  if (api_.name == nullptr) {                                                      \
    return cannot_open(adapter(), "its driver lacks vk" #name, "use a newer one"); \
  }
  EVENER_VULKAN_DEVICE(EVENER_LOAD)
#undef EVENER_LOAD
#define EVENER_LOAD(name) api_.name = reinterpret_cast<PFN_vk##name>(get(device_, "vk" #name));
  EVENER_VULKAN_DEVICE_OPTIONAL(EVENER_LOAD)
#undef EVENER_LOAD
  return {};
}

uint32_t Gpu::memory_type(uint32_t allowed, MemoryKind kind) const {
  constexpr VkMemoryPropertyFlags kOwn = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  constexpr VkMemoryPropertyFlags kShared =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  std::vector<VkMemoryPropertyFlags> wanted;  // the best first
  switch (kind) {
    case MemoryKind::device:
      wanted = {kOwn};
      break;
    case MemoryKind::upload:
      if (adapter().has_all_memory_in_bar()) wanted.push_back(kOwn | kShared);
      wanted.push_back(kShared);
      break;
    case MemoryKind::readback:
      wanted = {kShared | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, kShared};
      break;
    case MemoryKind::staging:
      wanted = {kShared};  // drivers list the host's own before what lies behind the bus
      break;
  }
  for (const VkMemoryPropertyFlags flags : wanted) {
    for (uint32_t i = 0; i < memory_types_.memoryTypeCount; ++i) {
      const bool has_all = (memory_types_.memoryTypes[i].propertyFlags & flags) == flags;
      if (has_all && (allowed >> i & 1) != 0) return i;
    }
  }
  return UINT32_MAX;
}

Result<GpuMemory> Gpu::allocate(size_t size_bytes, MemoryKind kind, const char* what) {
  const auto fail = [&](const char* why) {
    return Error{.code = Code::out_of_memory,
                 .doing = "allocate memory",
                 .where = fmt::format("{}, {}", place_of(adapter()), what),
                 .why = fmt::format("{} of {}: {}", bytes_text(size_bytes), name_of(kind), why),
                 .remedy =
                     "close what else uses the card, or use a smaller model, context or "
                     "--max-sequences"};
  };
  if (size_bytes > adapter().allocation_bytes_max) return fail("more than one piece may have");
  GpuMemory result;
  VkResult done = make_buffer(api_, device_, size_bytes, nullptr, result);
  if (done != VK_SUCCESS) return fail(result_name(done));
  const VkMemoryRequirements needs = needs_of(api_, device_, result);
  const Backing backing{.size_bytes = needs.size,
                        .memory_type = memory_type(needs.memoryTypeBits, kind)};
  done = backing.memory_type == UINT32_MAX ? VK_ERROR_FEATURE_NOT_PRESENT
                                           : back(api_, device_, backing, result);
  if (done == VK_SUCCESS && kind != MemoryKind::device) {
    void* host = nullptr;
    done = api_.MapMemory(device_, result.memory, 0, VK_WHOLE_SIZE, 0, &host);
    result.host = static_cast<std::byte*>(host);
  }
  if (done != VK_SUCCESS) {
    free(result);
    return fail(result_name(done));
  }
  const VkMemoryPropertyFlags flags = memory_types_.memoryTypes[backing.memory_type].propertyFlags;
  result.is_on_host = (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) == 0;
  if (result.is_on_host) host_bytes_ += size_bytes;
  return result;
}

void Gpu::free(const GpuMemory& memory) {
  if (is_abandoned_) return;
  if (memory.is_on_host) host_bytes_ -= memory.size_bytes;
  api_.DestroyBuffer(device_, memory.buffer, nullptr);
  api_.FreeMemory(device_, memory.memory, nullptr);
}

Error Gpu::no_room(std::string_view doing, VkResult result) const {
  return Error{.code = Code::out_of_memory,
               .doing = std::string(doing),
               .where = adapter().name,
               .why = result_name(result),
               .remedy = {}};
}

VkResult Gpu::submit(const VkSubmitInfo& submission) {
  const std::lock_guard lock(queue_mutex_);
  return api_.QueueSubmit(queue_, 1, &submission, VK_NULL_HANDLE);
}

void Gpu::wait_until_idle() {
  if (is_abandoned_) return;
  const std::lock_guard lock(queue_mutex_);
  api_.DeviceWaitIdle(device_);
}

Gpu::~Gpu() {
  if (device_ == VK_NULL_HANDLE || is_abandoned_) return;
  api_.DeviceWaitIdle(device_);
  api_.DestroyDevice(device_, nullptr);
}

}  // namespace evener::device::vulkan
