#include "device/device_memory.h"

#include <fmt/format.h>

#include "device/cpu/cpu_node.h"
#include "device/cpu/memory_limit.h"
#include "device/cpu/node_memory.h"
#include "device/device_name.h"
#include "device/vulkan/card_facts.h"
#include "device/vulkan/card_memory.h"
#include "device/vulkan/instance.h"
#include "device/vulkan/named_adapter.h"

namespace evener::device {
namespace {

Result<vulkan::Adapter> usable_adapter(const DeviceName& name) {
  ASSIGN_OR_RETURN(vulkan::Adapter adapter, vulkan::named_adapter(name));
  RETURN_IF_ERROR(vulkan::check_usable(adapter));
  return adapter;
}

Result<DeviceMemory> card_memory(const DeviceName& name) {
  ASSIGN_OR_RETURN(const vulkan::Adapter adapter, usable_adapter(name));
  ASSIGN_OR_RETURN(const auto instance, vulkan::Instance::get());
  return DeviceMemory{.place = vulkan::place_of(adapter),
                      .total_bytes = adapter.memory_bytes,
                      .free_bytes = vulkan::usable_bytes(
                          adapter, {.free_bytes = instance->free_bytes(adapter.index),
                                    .host_free_bytes = cpu::available_memory_bytes(),
                                    .facts = vulkan::read_card_facts(adapter.pci_address)}),
                      .is_of_host = adapter.is_software()};
}

}  // namespace

Result<DeviceMemory> device_memory(std::string_view name) {
  ASSIGN_OR_RETURN(const DeviceName parsed, parse_device_name(name));
  if (parsed.kind == DeviceKind::vulkan) return card_memory(parsed);
  ASSIGN_OR_RETURN(const cpu::CpuNode node, cpu::read_cpu_node(parsed.numa_node));
  RETURN_IF_ERROR(cpu::cores_of(node, parsed));
  return DeviceMemory{.place = fmt::format("node {}", node.index),
                      .total_bytes = cpu::node_memory_limit(node),
                      .free_bytes = cpu::free_node_memory(node),
                      .is_of_host = true};
}

Result<std::string> device_model(std::string_view name, size_t num_threads) {
  ASSIGN_OR_RETURN(const DeviceName parsed, parse_device_name(name));
  if (parsed.kind == DeviceKind::vulkan) {
    ASSIGN_OR_RETURN(const vulkan::Adapter adapter, usable_adapter(parsed));
    return adapter.name;
  }
  ASSIGN_OR_RETURN(const cpu::CpuNode node, cpu::read_cpu_node(parsed.numa_node));
  ASSIGN_OR_RETURN(const auto cores, cpu::cores_of(node, parsed));
  return fmt::format("{}, {}", node.model, num_threads == 0 ? cores.size() : num_threads);
}

}  // namespace evener::device
