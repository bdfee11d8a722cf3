#include "device/vulkan/gpu.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"

namespace evener::device::vulkan {
namespace {

// What kernels take for granted: the least that Vulkan 1.3 drivers of cards offer.
constexpr uint32_t kSharedBytes = 32 * 1024;
constexpr uint32_t kWorkgroupThreads = 256;

Error cannot_open(const Adapter& adapter, std::string why, std::string remedy) {
  return Error{.code = Code::unsupported,
               .doing = "open device",
               .where = fmt::format("vulkan:{}, {}", adapter.index, adapter.name),
               .why = std::move(why),
               .remedy = std::move(remedy)};
}

Status check(const Adapter& adapter) {
  if (!adapter.missing.empty()) {
    return cannot_open(adapter, fmt::format("it lacks {}", fmt::join(adapter.missing, ", ")),
                       "a newer driver may have it; or use another device");
  }
  if (adapter.shared_bytes < kSharedBytes || adapter.workgroup_threads_max < kWorkgroupThreads) {
    return cannot_open(adapter,
                       fmt::format("its workgroups have {} threads and {} bytes, kernels need {} "
                                   "and {}",
                                   adapter.workgroup_threads_max, adapter.shared_bytes,
                                   kWorkgroupThreads, kSharedBytes),
                       "use another device");
  }
  return {};
}

struct QueueChoice {
  uint32_t family = 0;
  uint32_t timestamp_bits = 0;
};

// One that computes and does not draw, if there is one: a desktop on the same card disturbs it
// less.
std::optional<QueueChoice> choose_queue(const InstanceApi& api, VkPhysicalDevice device) {
  uint32_t count = 0;
  api.GetPhysicalDeviceQueueFamilyProperties2(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties2> families(count);
  for (auto& family : families) family.sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2;
  api.GetPhysicalDeviceQueueFamilyProperties2(device, &count, families.data());
  std::optional<QueueChoice> chosen;
  for (uint32_t i = 0; i < count; ++i) {
    const VkQueueFamilyProperties& family = families[i].queueFamilyProperties;
    if ((family.queueFlags & VK_QUEUE_COMPUTE_BIT) == 0 || family.queueCount == 0) continue;
    const bool draws = (family.queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
    if (!chosen || !draws) {
      chosen = QueueChoice{.family = i, .timestamp_bits = family.timestampValidBits};
    }
    if (!draws) break;
  }
  return chosen;
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
  RETURN_IF_ERROR(check(adapter()));
  const InstanceApi& api = instance_->api();
  VkPhysicalDevice physical = instance_->physical_device(adapter_);
  const auto chosen = choose_queue(api, physical);
  if (!chosen) return cannot_open(adapter(), "no queue of it computes", "use another device");
  queue_family_ = chosen->family;

  constexpr float kPriority = 1;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = queue_family_;
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
  if (adapter().takes_host_memory) {
    extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
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
  api_.GetDeviceQueue(device_, queue_family_, 0, &queue_);

  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  api.GetPhysicalDeviceMemoryProperties2(physical, &memory);
  memory_types_ = memory.memoryProperties;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  api.GetPhysicalDeviceProperties2(physical, &properties);
  if (chosen->timestamp_bits > 0) {
    nanoseconds_per_tick_ = double(properties.properties.limits.timestampPeriod);
  }
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
                 .where = fmt::format("vulkan:{}, {}", adapter().index, what),
                 .why = fmt::format("{} of {}: {}", bytes_text(size_bytes), name_of(kind), why),
                 .remedy =
                     "close what else uses the card, or use a smaller model, context or "
                     "--max-sequences"};
  };
  GpuMemory result{.size_bytes = size_bytes};
  VkBufferCreateInfo buffer{};
  buffer.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  buffer.size = size_bytes;
  buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  if (size_bytes > adapter().allocation_bytes_max) return fail("more than one piece may have");
  if (const VkResult made = api_.CreateBuffer(device_, &buffer, nullptr, &result.buffer);
      made != VK_SUCCESS) {
    return fail(result_name(made));
  }
  VkMemoryRequirements needs{};
  api_.GetBufferMemoryRequirements(device_, result.buffer, &needs);
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = &flags;
  info.allocationSize = needs.size;
  info.memoryTypeIndex = memory_type(needs.memoryTypeBits, kind);
  VkResult done = info.memoryTypeIndex == UINT32_MAX
                      ? VK_ERROR_FEATURE_NOT_PRESENT
                      : api_.AllocateMemory(device_, &info, nullptr, &result.memory);
  if (done == VK_SUCCESS) done = api_.BindBufferMemory(device_, result.buffer, result.memory, 0);
  if (done == VK_SUCCESS && kind != MemoryKind::device) {
    void* host = nullptr;
    done = api_.MapMemory(device_, result.memory, 0, VK_WHOLE_SIZE, 0, &host);
    result.host = static_cast<std::byte*>(host);
  }
  if (done != VK_SUCCESS) {
    free(result);
    return fail(result_name(done));
  }
  const VkMemoryPropertyFlags flags_of_type =
      memory_types_.memoryTypes[info.memoryTypeIndex].propertyFlags;
  result.is_on_host = (flags_of_type & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) == 0;
  if (result.is_on_host) host_bytes_ += size_bytes;
  VkBufferDeviceAddressInfo address{};
  address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  address.buffer = result.buffer;
  result.address = api_.GetBufferDeviceAddress(device_, &address);
  return result;
}

void Gpu::free(const GpuMemory& memory) {
  if (is_abandoned_) return;
  if (memory.is_on_host) host_bytes_ -= memory.size_bytes;
  api_.DestroyBuffer(device_, memory.buffer, nullptr);
  api_.FreeMemory(device_, memory.memory, nullptr);
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
