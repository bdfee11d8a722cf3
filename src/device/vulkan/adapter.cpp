#include "device/vulkan/adapter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace evener::device::vulkan {
namespace {

AdapterKind kind_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return AdapterKind::discrete;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return AdapterKind::integrated;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return AdapterKind::virtual_gpu;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return AdapterKind::software;
    default:
      return AdapterKind::other;
  }
}

// Texts of drivers end before the end of their arrays, or they should.
template <size_t kSize>
std::string text_of(const char (&text)[kSize]) {
  return printable({text, strnlen(text, kSize)}, kSize);
}

class Extensions {
 public:
  Extensions(const InstanceApi& api, VkPhysicalDevice device) {
    uint32_t count = 0;
    api.EnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
    all_.resize(count);
    api.EnumerateDeviceExtensionProperties(device, nullptr, &count, all_.data());
    all_.resize(count);
  }
  bool has(const char* name) const {
    return std::ranges::any_of(
        all_, [&](const auto& each) { return std::strcmp(each.extensionName, name) == 0; });
  }

 private:
  std::vector<VkExtensionProperties> all_;
};

void read_properties(const InstanceApi& api, VkPhysicalDevice device, const Extensions& extensions,
                     Adapter& adapter) {
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci{};
  pci.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT;
  VkPhysicalDeviceVulkan13Properties in_13{};
  in_13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES;
  VkPhysicalDeviceVulkan12Properties in_12{};
  in_12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
  VkPhysicalDeviceVulkan11Properties in_11{};
  in_11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  api.GetPhysicalDeviceProperties2(device, &all);
  const uint32_t version = all.properties.apiVersion;
  if (version >= VK_API_VERSION_1_2) {  // older drivers do not know what is chained here
    all.pNext = &in_11;
    in_11.pNext = &in_12;
    void** end = &in_12.pNext;
    if (version >= VK_API_VERSION_1_3) {
      *end = &in_13;
      end = &in_13.pNext;
    }
    if (extensions.has(VK_EXT_PCI_BUS_INFO_EXTENSION_NAME)) *end = &pci;
    api.GetPhysicalDeviceProperties2(device, &all);
  }
  const VkPhysicalDeviceProperties& p = all.properties;
  adapter.name = text_of(p.deviceName);
  adapter.kind = kind_of(p.deviceType);
  adapter.vendor_id = p.vendorID;
  adapter.device_id = p.deviceID;
  adapter.version = fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(version),
                                VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version));
  adapter.driver = text_of(in_12.driverName);
  const std::string details = text_of(in_12.driverInfo);
  if (!details.empty()) adapter.driver += ", " + details;
  if (pci.pciBus != 0 || pci.pciDevice != 0 || pci.pciDomain != 0) {
    adapter.pci_address = fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.pciDomain, pci.pciBus,
                                      pci.pciDevice, pci.pciFunction);
  }
  adapter.allocation_bytes_max = in_11.maxMemoryAllocationSize;
  if (version >= VK_API_VERSION_1_3) {
    adapter.allocation_bytes_max = std::min(adapter.allocation_bytes_max, in_13.maxBufferSize);
  }
  adapter.subgroup_size = in_11.subgroupSize;
  adapter.subgroup_size_min = in_13.minSubgroupSize;
  adapter.subgroup_size_max = in_13.maxSubgroupSize;
  adapter.shared_bytes = p.limits.maxComputeSharedMemorySize;
  adapter.workgroup_threads_max = p.limits.maxComputeWorkGroupInvocations;
  adapter.nanoseconds_per_tick = double(p.limits.timestampPeriod);
  adapter.has_int8_dot = in_13.integerDotProduct4x8BitPackedSignedAccelerated == VK_TRUE;
  if (version < VK_API_VERSION_1_3) {
    adapter.missing.push_back("Vulkan 1.3 (its driver has " + adapter.version + ")");
  }
}

void read_features(const InstanceApi& api, VkPhysicalDevice device, const Extensions& extensions,
                   Adapter& adapter) {
  VkPhysicalDeviceVulkan13Features in_13{};
  in_13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  VkPhysicalDeviceVulkan12Features in_12{};
  in_12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  in_12.pNext = &in_13;
  VkPhysicalDeviceFeatures2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  const bool is_known = adapter.missing.empty();
  if (is_known) all.pNext = &in_12;
  api.GetPhysicalDeviceFeatures2(device, &all);
  adapter.has_fp16 = in_12.shaderFloat16 == VK_TRUE;
  adapter.has_timeline_semaphore = in_12.timelineSemaphore == VK_TRUE;
  adapter.has_cooperative_matrix =
      extensions.has("VK_KHR_cooperative_matrix") || extensions.has("VK_NV_cooperative_matrix");
  adapter.shares_memory_by_fd = extensions.has(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
  adapter.shares_memory_as_dma_buf =
      adapter.shares_memory_by_fd && extensions.has(VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME);
  adapter.hands_over_to_foreign_queues = extensions.has(VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME);
  adapter.takes_host_memory = extensions.has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  if (!is_known) return;
  const auto need = [&](VkBool32 feature, const char* name) {
    if (feature != VK_TRUE) adapter.missing.emplace_back(name);
  };
  need(in_12.bufferDeviceAddress, "bufferDeviceAddress");
  need(in_12.scalarBlockLayout, "scalarBlockLayout");
  need(in_12.timelineSemaphore, "timelineSemaphore");
  need(in_13.shaderIntegerDotProduct, "shaderIntegerDotProduct");
  need(in_13.maintenance4, "maintenance4");
  need(all.features.shaderInt64, "shaderInt64");
}

void read_memory(const InstanceApi& api, VkPhysicalDevice device, const Extensions& extensions,
                 Adapter& adapter) {
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  const bool has_budget = extensions.has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  if (has_budget) all.pNext = &budget;
  api.GetPhysicalDeviceMemoryProperties2(device, &all);
  const VkPhysicalDeviceMemoryProperties& memory = all.memoryProperties;
  uint32_t heap = 0;  // the largest of its own
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    const bool is_own = (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
    if (!is_own || memory.memoryHeaps[i].size <= adapter.memory_bytes) continue;
    adapter.memory_bytes = memory.memoryHeaps[i].size;
    heap = i;
  }
  if (has_budget) {
    const VkDeviceSize limit = std::min(budget.heapBudget[heap], memory.memoryHeaps[heap].size);
    adapter.free_bytes = limit - std::min(limit, budget.heapUsage[heap]);
  }
  constexpr VkMemoryPropertyFlags kBoth =
      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    if ((memory.memoryTypes[i].propertyFlags & kBoth) != kBoth) continue;
    adapter.host_visible_bytes = std::max<size_t>(
        adapter.host_visible_bytes, memory.memoryHeaps[memory.memoryTypes[i].heapIndex].size);
  }
  if (adapter.memory_bytes == 0) adapter.missing.emplace_back("memory of its own");
}

// One that computes and does not draw, if there is one: a desktop on the same card disturbs it
// less.
void choose_queue(const InstanceApi& api, VkPhysicalDevice device, Adapter& adapter) {
  uint32_t count = 0;
  api.GetPhysicalDeviceQueueFamilyProperties2(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties2> families(count);
  for (auto& family : families) family.sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2;
  api.GetPhysicalDeviceQueueFamilyProperties2(device, &count, families.data());
  bool has_one = false;
  bool has_clock = false;
  for (uint32_t i = 0; i < count; ++i) {
    const VkQueueFamilyProperties& family = families[i].queueFamilyProperties;
    if ((family.queueFlags & VK_QUEUE_COMPUTE_BIT) == 0 || family.queueCount == 0) continue;
    const bool draws = (family.queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
    if (!has_one || !draws) {
      has_one = true;
      adapter.queue_family = i;
      has_clock = family.timestampValidBits > 0;
    }
    if (!draws) break;
  }
  if (!has_one) adapter.missing.emplace_back("a queue that computes");
  if (!has_clock) adapter.nanoseconds_per_tick = 0;
}

// What kernels take for granted: the least that Vulkan 1.3 drivers of cards offer.
void check_workgroups(Adapter& adapter) {
  constexpr uint32_t kSharedBytes = 32 * 1024;
  constexpr uint32_t kThreads = 256;
  if (adapter.shared_bytes < kSharedBytes || adapter.workgroup_threads_max < kThreads) {
    adapter.missing.push_back(
        fmt::format("workgroups of {} threads and {} bytes (they have {} and {})", kThreads,
                    kSharedBytes, adapter.workgroup_threads_max, adapter.shared_bytes));
  }
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = char(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool is_meant(const Adapter& adapter, std::string_view words) {
  if (!adapter.pci_address.empty()) {
    if (adapter.pci_address == words) return true;
    if (adapter.pci_address.starts_with("0000:") && adapter.pci_address.substr(5) == words) {
      return true;
    }
  }
  return lower(adapter.name).find(lower(words)) != std::string::npos;
}

std::string list_of(const std::vector<Adapter>& adapters) {
  std::string text;
  for (const Adapter& adapter : adapters) {
    text += fmt::format("{}{} is {}", text.empty() ? "" : ", ", adapter.index, adapter.name);
    if (!adapter.pci_address.empty()) text += " at " + adapter.pci_address;
  }
  return text;
}

}  // namespace

std::string_view to_string(AdapterKind kind) {
  switch (kind) {
    case AdapterKind::discrete:
      return "card";
    case AdapterKind::integrated:
      return "part of the processor";
    case AdapterKind::virtual_gpu:
      return "virtual";
    case AdapterKind::software:
      return "software";
    case AdapterKind::other:
      break;
  }
  return "of unknown kind";
}

Status check_usable(const Adapter& adapter) {
  if (adapter.missing.empty()) return {};
  return Error{.code = Code::unsupported,
               .doing = "open device",
               .where = fmt::format("'{}' ({})", place_of(adapter), adapter.name),
               .why = fmt::format("it lacks {}", fmt::join(adapter.missing, ", ")),
               .remedy = "a newer driver may have it: this is " + adapter.driver};
}

std::string place_of(const Adapter& adapter) { return fmt::format("vulkan:{}", adapter.index); }

std::string title_of(const Adapter& adapter) {
  return fmt::format("{}, {}", place_of(adapter), adapter.name);
}

Adapter read_adapter(const InstanceApi& api, VkPhysicalDevice device, size_t index) {
  Adapter adapter;
  adapter.index = index;
  const Extensions extensions(api, device);
  read_properties(api, device, extensions, adapter);
  read_features(api, device, extensions, adapter);
  read_memory(api, device, extensions, adapter);
  choose_queue(api, device, adapter);
  check_workgroups(adapter);
  return adapter;
}

Result<size_t> find_adapter(const std::vector<Adapter>& adapters, std::string_view words) {
  constexpr size_t kShownMax = 60;
  Error error{.code = Code::invalid_argument,
              .doing = "open device",
              .where = "'vulkan:" + printable(words, kShownMax) + "'",
              .why = {},
              .remedy = "adapters of this machine: " + list_of(adapters)};
  size_t index = 0;
  const auto [end, status] = std::from_chars(words.data(), words.data() + words.size(), index);
  if (status == std::errc() && end == words.data() + words.size()) {
    if (index < adapters.size()) return index;
    error.why = fmt::format("there {} {}", adapters.size() == 1 ? "is" : "are",
                            counted_text(adapters.size(), "adapter"));
    return error;
  }
  std::vector<size_t> meant;
  for (const Adapter& adapter : adapters) {
    if (!words.empty() && is_meant(adapter, words)) meant.push_back(adapter.index);
  }
  if (meant.size() == 1) return meant[0];
  error.why = meant.empty() ? "no adapter has this number, PCI address or name"
                            : fmt::format("it may be any of {}", fmt::join(meant, ", "));
  return error;
}

}  // namespace evener::device::vulkan
