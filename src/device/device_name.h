#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace evener::device {

enum class DeviceKind { cpu, vulkan };

// "cpu:0", the cores of NUMA node 0, or some of them: "cpu:0[0-3,6]"; or "vulkan:0", a card, and
// "vulkan:0#1", the second of several devices on it.
struct DeviceName {
  DeviceKind kind = DeviceKind::cpu;

  // Of a CPU:
  size_t numa_node = 0;
  // Rising. Counted from 0 among the physical cores of the node that this process may use, so that
  // cpu:0[0] exists on every machine. Empty: all of them.
  std::vector<size_t> cores = {};

  // Of a card: its number, PCI address or a part of its name, as vulkan::find_adapter takes it.
  // Which cards there are is not looked at here.
  std::string adapter = {};
  size_t part = 0;

  bool operator==(const DeviceName&) const = default;
};

// Larger than any machine's; names are given by strangers.
inline constexpr size_t kNodesMax = 1024;
inline constexpr size_t kCoresMax = 4096;
inline constexpr size_t kAdapterWordsMax = 256;  // bytes; as long as Vulkan's names of cards may be
inline constexpr size_t kPartsMax = 16;          // devices on one card

// Errors: invalid_argument: unknown kind, a number too large, brackets that do not end, an empty,
// reversed or repeated range; a card's words that are empty, too long or no text.
Result<DeviceName> parse_device_name(std::string_view text);

// The shortest way to say it: "cpu:0[0-3,6]", "vulkan:7900 xtx".
std::string to_string(const DeviceName& name);

// The names in "cpu:0[0,2],cpu:1", which stand between commas outside of brackets. Not looked at
// any further; empty ones stay.
std::vector<std::string> split_device_list(std::string_view text);

// That the names can stand side by side. Errors: invalid_argument: as parse_device_name; one that
// is named twice, or two that share a core, saying which. Two words for one card are not found out
// here but by check_devices.
Status check_no_core_twice(const std::vector<std::string>& names);

}  // namespace evener::device
