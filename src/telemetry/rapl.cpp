#include "telemetry/rapl.h"

#include <string_view>

#include "host/text_lines.h"

namespace evener::telemetry {
namespace {

constexpr std::string_view kFolder = "sys/class/powercap";
constexpr size_t kPackagesMax = 64;
constexpr double kWattsMax = 10'000;
// 65,532 J at 300 W last 3.6 minutes.
constexpr std::chrono::seconds kPauseMax{60};
// The counter moves once a millisecond: below this the mean is rough.
constexpr std::chrono::milliseconds kPauseMin{50};

std::optional<uint64_t> read_uint(const host::FileTree& files, const std::string& path) {
  const auto line = files.read_line(path);
  return line ? host::parse_uint(*line) : std::nullopt;
}

}  // namespace

PackagePower::PackagePower(const host::FileTree& files) {
  for (const std::string& entry : files.list(std::string(kFolder))) {
    // "intel-rapl:0", also on AMD's processors; "intel-rapl-mmio:0" shows the same counter again.
    if (!entry.starts_with("intel-rapl:") || packages_.size() == kPackagesMax) continue;
    const std::string path = std::string(kFolder) + "/" + entry;
    // Zones are numbered in no order of sockets; "core" is a part, and "psys" holds more.
    if (!files.read_line(path + "/name").value_or("").starts_with("package")) continue;
    const auto range = read_uint(files, path + "/max_energy_range_uj");
    if (!range || *range == 0) continue;
    packages_.push_back({path, *range, {}});
    if (missing_ || read_uint(files, path + "/energy_uj")) continue;
    missing_ = {
        .what = "power of the processors",
        .why = "/" + path + "/energy_uj: " + files.why_unread(path + "/energy_uj"),
        .remedy = "run as root, or let your group read the energy_uj files with a udev rule"};
  }
  if (missing_) packages_.clear();
}

std::optional<double> PackagePower::read_w(const host::FileTree& files,
                                           std::chrono::steady_clock::time_point now) {
  const auto pause = now - before_;
  if (packages_.empty() || (packages_.front().energy_uj && pause < kPauseMin)) return {};
  bool known = pause <= kPauseMax;
  double joules = 0;
  for (Package& package : packages_) {
    const auto energy = read_uint(files, package.path + "/energy_uj");
    if (energy && package.energy_uj && *energy <= package.range_uj) {
      const bool wrapped = *energy < *package.energy_uj;
      const uint64_t used = *energy - *package.energy_uj + (wrapped ? package.range_uj : 0);
      joules += double(used) * 1e-6;
    } else {
      known = false;
    }
    package.energy_uj = energy && *energy <= package.range_uj ? energy : std::nullopt;
  }
  before_ = now;
  const double watts = joules / std::chrono::duration<double>(pause).count();
  return known && watts <= kWattsMax ? std::optional(watts) : std::nullopt;
}

}  // namespace evener::telemetry
