#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace evener::device {

// "cpu:0", the cores of NUMA node 0, or some of them: "cpu:0[0-3,6]".
struct DeviceName {
  size_t numa_node = 0;
  // Rising. Counted from 0 among the physical cores of the node that this process may use, so that
  // cpu:0[0] exists on every machine. Empty: all of them.
  std::vector<size_t> cores = {};

  bool operator==(const DeviceName&) const = default;
};

// Larger than any machine's; names are given by strangers.
inline constexpr size_t kNodesMax = 1024;
inline constexpr size_t kCoresMax = 4096;

// Errors: invalid_argument: unknown kind, a number too large, brackets that do not end, an empty,
// reversed or repeated range.
Result<DeviceName> parse_device_name(std::string_view text);

// The shortest way to say it: "cpu:0[0-3,6]".
std::string to_string(const DeviceName& name);

// The names in "cpu:0[0,2],cpu:1", which stand between commas outside of brackets. Not looked at
// any further; empty ones stay.
std::vector<std::string> split_device_list(std::string_view text);

// That the names can stand side by side. Errors: invalid_argument: as parse_device_name; one that
// is named twice, or two that share a core, saying which.
Status check_no_core_twice(const std::vector<std::string>& names);

}  // namespace evener::device
