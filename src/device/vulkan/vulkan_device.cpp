#include "device/vulkan/vulkan_device.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "device/vulkan/card_device.h"
#include "device/vulkan/card_facts.h"
#include "device/vulkan/gpu.h"
#include "device/vulkan/instance.h"

namespace evener::device::vulkan {
namespace {

// Counts up whenever the bytes of a page or a slot, or the roundings that lead to them, change.
constexpr int kCacheLayout = 1;

// Longer than any step takes. Software is slow and does not hang.
constexpr auto kDeadline = std::chrono::seconds(60);
constexpr auto kSoftwareDeadline = std::chrono::minutes(30);

}  // namespace

Result<std::unique_ptr<CardDevice>> create_card_device(const VulkanOptions& options) {
  ASSIGN_OR_RETURN(auto instance, Instance::get());
  ASSIGN_OR_RETURN(auto gpu, Gpu::create(std::move(instance), options.adapter));
  const Adapter& adapter = gpu->adapter();
  DeviceInfo info{
      .name = place_of(adapter),
      .description = fmt::format("{}, {}", adapter.name, adapter.driver),
      .memory_bytes = adapter.memory_bytes,
      .num_threads = 0,
      .numa_node = read_card_facts(adapter.pci_address).numa_node.value_or(0),
      .cache_layout = fmt::format("vulkan {}, {:04x}:{:04x}, {}", kCacheLayout, adapter.vendor_id,
                                  adapter.device_id, adapter.driver)};
  if (options.part > 0) info.name += fmt::format("#{}", options.part);
  const std::chrono::nanoseconds usual = adapter.is_software()
                                             ? std::chrono::nanoseconds(kSoftwareDeadline)
                                             : std::chrono::nanoseconds(kDeadline);
  const auto deadline = options.deadline.count() > 0 ? options.deadline : usual;
  return CardDevice::create(std::move(gpu), std::move(info),
                            {.deadline = deadline, .is_plan = options.is_plan});
}

Result<std::unique_ptr<Device>> create_vulkan_device(const VulkanOptions& options) {
  ASSIGN_OR_RETURN(auto device, create_card_device(options));
  return device;
}

}  // namespace evener::device::vulkan
