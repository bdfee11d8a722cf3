#include "telemetry/hwmon.h"

#include "telemetry/quantity.h"

namespace evener::telemetry {
namespace {

constexpr size_t kHwmonsMax = 256;
constexpr size_t kThermometersMax = 512;

}  // namespace

std::vector<Hwmon> find_hwmons(const host::FileTree& files, const std::string& folder) {
  std::vector<Hwmon> found;
  for (const std::string& entry : files.list(folder)) {
    if (!entry.starts_with("hwmon") || found.size() == kHwmonsMax) continue;
    const std::string path = folder + "/" + entry;
    if (auto name = files.read_line(path + "/name")) found.push_back({path, std::move(*name)});
  }
  return found;
}

std::vector<Thermometer> find_thermometers(const host::FileTree& files, const Hwmon& hwmon) {
  constexpr std::string_view kEnd = "_input";
  std::vector<Thermometer> found;
  for (const std::string& entry : files.list(hwmon.path)) {
    if (!entry.starts_with("temp") || !entry.ends_with(kEnd)) continue;
    if (found.size() == kThermometersMax) break;
    const std::string path = hwmon.path + "/" + entry.substr(0, entry.size() - kEnd.size());
    found.push_back({path, files.read_line(path + "_label").value_or("")});
  }
  return found;
}

std::optional<double> read_celsius(const host::FileTree& files, const Thermometer& thermometer) {
  return read_quantity(files, thermometer.path + "_input", kMillidegrees);
}

}  // namespace evener::telemetry
