#include "device/create_device.h"

#include <fmt/format.h>

#include <utility>

#include "device/cpu/cpu_device.h"
#include "device/cpu/cpu_node.h"
#include "device/device_name.h"
#include "device/vulkan/named_adapter.h"
#include "device/vulkan/vulkan_device.h"

namespace evener::device {
namespace {

Result<std::unique_ptr<Device>> create_card(const DeviceName& name) {
  ASSIGN_OR_RETURN(const vulkan::Adapter adapter, vulkan::named_adapter(name));
  RETURN_IF_ERROR(vulkan::check_usable(adapter));
  vulkan::warn_of_software(adapter);
  return vulkan::create_vulkan_device({.adapter = adapter.index, .part = name.part});
}

Status check_cpu(const DeviceName& name) {
  ASSIGN_OR_RETURN(const cpu::CpuNode node, cpu::read_cpu_node(name.numa_node));
  RETURN_IF_ERROR(cpu::cores_of(node, name));
  return {};
}

// A card that has been found, and how it was called.
struct Card {
  size_t adapter = 0;
  size_t part = 0;
  std::string name;
};

// Two names may mean the same: "vulkan:0" and "vulkan:03:00.0".
Status check_card(const DeviceName& name, std::vector<Card>& cards) {
  ASSIGN_OR_RETURN(const vulkan::Adapter adapter, vulkan::named_adapter(name));
  RETURN_IF_ERROR(vulkan::check_usable(adapter));
  for (const Card& card : cards) {
    if (card.adapter != adapter.index || card.part != name.part) continue;
    return Error{.code = Code::invalid_argument,
                 .doing = "open device",
                 .where = "'" + to_string(name) + "'",
                 .why = fmt::format("it is the same device as '{}'", card.name),
                 .remedy = fmt::format("two devices on one card are {0} and {0}#1",
                                       vulkan::place_of(adapter))};
  }
  cards.push_back({.adapter = adapter.index, .part = name.part, .name = to_string(name)});
  return {};
}

}  // namespace

Result<std::unique_ptr<Device>> create_device(std::string_view name, size_t num_threads) {
  ASSIGN_OR_RETURN(DeviceName parsed, parse_device_name(name));
  if (parsed.kind == DeviceKind::vulkan) return create_card(parsed);
  return cpu::create_cpu_device({.numa_node = parsed.numa_node,
                                 .cores = std::move(parsed.cores),
                                 .num_threads = num_threads,
                                 .isa = {}});
}

Status check_devices(const std::vector<std::string>& names) {
  RETURN_IF_ERROR(check_no_core_twice(names));
  std::vector<Card> cards;
  for (const std::string& text : names) {
    ASSIGN_OR_RETURN(const DeviceName name, parse_device_name(text));
    RETURN_IF_ERROR(name.kind == DeviceKind::vulkan ? check_card(name, cards) : check_cpu(name));
  }
  return {};
}

}  // namespace evener::device
