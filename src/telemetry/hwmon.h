#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/file_tree.h"

namespace evener::telemetry {

// A folder of sensors of one chip, "sys/class/hwmon/hwmon3", by the name that its driver gives it.
// Numbers change from boot to boot; names and labels do not.
struct Hwmon {
  std::string path;
  std::string name;  // "coretemp", "amdgpu"
};
std::vector<Hwmon> find_hwmons(const host::FileTree& files, const std::string& folder);

// A temperature of a chip.
struct Thermometer {
  std::string path;   // "sys/class/hwmon/hwmon3/temp1", "_input" comes behind it
  std::string label;  // "Package id 0", "junction"; empty: the driver gives none
};
std::vector<Thermometer> find_thermometers(const host::FileTree& files, const Hwmon& hwmon);
std::optional<double> read_celsius(const host::FileTree& files, const Thermometer& thermometer);

}  // namespace evener::telemetry
