#include "telemetry/cores.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "host/text_lines.h"
#include "telemetry/quantity.h"

namespace evener::telemetry {
namespace {

constexpr std::string_view kFolder = "sys/devices/system/cpu";
constexpr size_t kCoresMax = 4096;

bool is_cpu(const std::string& name) {
  return name.starts_with("cpu") && host::parse_uint(std::string_view(name).substr(3)).has_value();
}

// coretemp has one for each package beside those of its cores. k10temp's Tctl is what the fan is
// steered by and may carry an offset: Tdie is the die's own, where there is one.
std::vector<Thermometer> package_thermometers(const host::FileTree& files) {
  std::vector<Thermometer> found;
  for (const Hwmon& hwmon : find_hwmons(files, "sys/class/hwmon")) {
    const bool intel = hwmon.name == "coretemp";
    if (!intel && hwmon.name != "k10temp") continue;
    const auto all = find_thermometers(files, hwmon);
    const bool has_die = std::ranges::find(all, "Tdie", &Thermometer::label) != all.end();
    const std::string_view wanted = intel ? "Package id" : has_die ? "Tdie" : "Tctl";
    for (const Thermometer& thermometer : all) {
      if (thermometer.label.starts_with(wanted)) found.push_back(thermometer);
    }
  }
  return found;
}

std::optional<uint64_t> count_in(const host::FileTree& files, const std::string& path) {
  const auto line = files.read_line(path);
  const auto count = line ? host::parse_uint(*line) : std::nullopt;
  return count && *count < uint64_t{1} << 48 ? count : std::nullopt;
}

}  // namespace

Cores::Cores(const host::FileTree& files) : thermometers_(package_thermometers(files)) {
  std::set<std::string> seen_cores;
  std::set<std::string> seen_packages;
  for (const std::string& entry : files.list(std::string(kFolder))) {
    if (!is_cpu(entry) || cores_.size() == kCoresMax) continue;
    const std::string path = std::string(kFolder) + "/" + entry;
    // Threads of one core have the same list; without one, each is a core of its own.
    const auto siblings = files.read_line(path + "/topology/thread_siblings_list");
    if (seen_cores.insert(siblings.value_or(entry)).second) cores_.push_back(path);
    const auto package = files.read_line(path + "/topology/physical_package_id");
    if (package && seen_packages.insert(*package).second) packages_.push_back(path);
  }
}

void Cores::read(const host::FileTree& files, HostReading& reading) const {
  read_clocks(files, reading);
  read_throttle(files, reading);
  for (const Thermometer& thermometer : thermometers_) {
    const auto celsius = read_celsius(files, thermometer);
    if (celsius) reading.cpu_celsius = std::max(*celsius, reading.cpu_celsius.value_or(*celsius));
  }
}

void Cores::read_clocks(const host::FileTree& files, HostReading& reading) const {
  double sum = 0;
  size_t count = 0;
  for (const std::string& core : cores_) {
    const std::string folder = core + "/cpufreq/";
    if (const auto mhz = read_quantity(files, folder + "scaling_cur_freq", kKilohertz)) {
      sum += *mhz;
      ++count;
      reading.cpu_mhz_min = std::min(*mhz, reading.cpu_mhz_min.value_or(*mhz));
    }
    if (const auto cap = read_quantity(files, folder + "scaling_max_freq", kKilohertz)) {
      reading.cpu_mhz_cap = std::min(*cap, reading.cpu_mhz_cap.value_or(*cap));
    }
  }
  if (count > 0) reading.cpu_mhz_mean = sum / double(count);
}

void Cores::read_throttle(const host::FileTree& files, HostReading& reading) const {
  const auto add = [&](const std::string& path) {
    const auto count = count_in(files, path);
    if (count) reading.throttle_count = reading.throttle_count.value_or(0) + *count;
  };
  for (const std::string& core : cores_) add(core + "/thermal_throttle/core_throttle_count");
  for (const std::string& core : packages_) add(core + "/thermal_throttle/package_throttle_count");
}

}  // namespace evener::telemetry
