#include "telemetry/amd_card.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "host/text_lines.h"
#include "telemetry/quantity.h"

namespace evener::telemetry {
namespace {

constexpr double kMhzMax = 20'000;
constexpr size_t kTableMax = 16'384;

// "1: 2735Mhz *", "S: 500MHz", "-500Mhz": the number behind the label, if it is one of clocks.
std::optional<double> mhz_in(std::string_view line) {
  const size_t colon = line.find(':');
  line = host::trim(colon == std::string_view::npos ? line : line.substr(colon + 1));
  const auto mhz = host::leading_real(line);
  if (!mhz || *mhz < -kMhzMax || *mhz > kMhzMax) return {};
  const size_t unit = line.find_first_not_of("+-0123456789.");
  if (unit == std::string_view::npos) return {};
  const std::string_view word = line.substr(unit, 3);
  if (word != "Mhz" && word != "MHz") return {};
  return mhz;
}

// The lines of one section of pp_od_clk_voltage. Old kernels leave NUL bytes between sections.
std::vector<std::string> section_lines(std::string_view overdrive, std::string_view head) {
  std::string text(overdrive.substr(0, kTableMax));
  std::ranges::replace(text, '\0', ' ');
  std::vector<std::string> lines;
  bool inside = false;
  host::each_line(text, [&](std::string_view line) {
    line = host::trim(line);
    if (line.starts_with("OD_")) {
      inside = line == head;
    } else if (inside && !line.empty()) {
      lines.emplace_back(line);
    }
  });
  return lines;
}

std::optional<double> last_mhz(std::string_view table) {
  std::optional<double> last;
  host::each_line(table.substr(0, kTableMax), [&](std::string_view line) {
    if (const auto mhz = mhz_in(line); mhz && *mhz > 0) last = mhz;
  });
  return last;
}

template <class T>
T value_at(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Bits of indep_throttle_status.
constexpr uint64_t kPowerBits = 0xff;
constexpr uint64_t kCurrentBits = uint64_t{0xff} << 16;
constexpr uint64_t kThermalBits = uint64_t{0xffffff} << 32;
constexpr uint64_t kHotspotBit = uint64_t{1} << 36;

std::optional<uint64_t> throttle_bits(std::string_view metrics) {
  constexpr size_t kSize = 120;
  constexpr size_t kBitsAt = 112;
  if (metrics.size() < kSize || value_at<uint16_t>(metrics, 0) < kSize) return {};
  if (value_at<uint16_t>(metrics, 0) > metrics.size()) return {};
  if (metrics[2] != 1 || metrics[3] != 3) return {};
  const auto bits = value_at<uint64_t>(metrics, kBitsAt);
  return bits == ~uint64_t{0} ? std::nullopt : std::optional(bits);
}

}  // namespace

std::optional<double> starred_mhz(std::string_view table) {
  std::optional<double> starred;
  size_t num_stars = 0;
  host::each_line(table.substr(0, kTableMax), [&](std::string_view line) {
    if (!host::trim(line).ends_with('*')) return;
    ++num_stars;
    starred = mhz_in(line);
  });
  return num_stars == 1 && starred && *starred > 0 ? starred : std::nullopt;
}

std::optional<double> core_mhz_max(std::string_view overdrive, std::string_view dpm_sclk) {
  for (const std::string& line : section_lines(overdrive, "OD_SCLK:")) {
    if (!line.starts_with("1:")) continue;
    if (const auto mhz = mhz_in(line); mhz && *mhz > 0) return mhz;
  }
  const auto top = last_mhz(dpm_sclk);
  const auto offset = section_lines(overdrive, "OD_SCLK_OFFSET:");
  if (!top || offset.empty()) return top;
  return *top + mhz_in(offset.front()).value_or(0);
}

std::vector<std::string> throttle_reasons(std::string_view gpu_metrics, const CardReading& reading,
                                          std::optional<double> junction_critical_celsius) {
  constexpr double kNearCap = 0.97;
  constexpr double kNearCritical = 3;
  uint64_t bits = throttle_bits(gpu_metrics).value_or(0);
  const bool at_cap =
      reading.power_w && reading.power_cap_w && *reading.power_w >= kNearCap * *reading.power_cap_w;
  const bool hot = reading.junction_celsius && junction_critical_celsius &&
                   *reading.junction_celsius >= *junction_critical_celsius - kNearCritical;
  if (!at_cap) bits &= ~kPowerBits;
  if (!hot) bits &= ~kHotspotBit;
  std::vector<std::string> reasons;
  if ((bits & kPowerBits) != 0) reasons.emplace_back("power");
  if ((bits & kCurrentBits) != 0) reasons.emplace_back("current");
  if ((bits & kThermalBits) != 0) reasons.emplace_back("thermal");
  return reasons;
}

AmdCard::AmdCard(const host::FileTree& files, PciCard card)
    : card_(std::move(card)),
      name_(host::clean(files.read_line(card_.path + "/product_name").value_or(""))),
      link_path_(slot_link_path(files, card_)) {
  for (const Hwmon& hwmon : find_hwmons(files, card_.path + "/hwmon")) {
    if (hwmon.name == "amdgpu") hwmon_path_ = hwmon.path;
  }
  if (hwmon_path_.empty()) return;
  thermometers_ = find_thermometers(files, {hwmon_path_, "amdgpu"});
  for (const Thermometer& thermometer : thermometers_) {
    if (thermometer.label != "junction") continue;
    junction_critical_celsius_ = read_quantity(files, thermometer.path + "_crit", kMillidegrees);
  }
}

CardReading AmdCard::read(const host::FileTree& files) const {
  CardReading reading;
  reading.bus = card_.bus;
  reading.name = name_;
  if (const auto bytes = read_quantity(files, card_.path + "/mem_info_vram_used", kBytes)) {
    reading.memory_used_bytes = uint64_t(*bytes);
  }
  if (is_asleep(files, card_)) return reading;
  read_power(files, reading);
  read_temperatures(files, reading);
  read_clocks(files, reading);
  reading.busy = read_quantity(files, card_.path + "/gpu_busy_percent", kPercent);
  reading.link_gts = gts_of(files.read_line(link_path_ + "/current_link_speed").value_or(""));
  if (const auto width = read_quantity(files, link_path_ + "/current_link_width", kLanes)) {
    reading.link_width = unsigned(*width);
  }
  const auto metrics = files.read(card_.path + "/gpu_metrics", kTableMax);
  reading.throttle = throttle_reasons(metrics.value_or(""), reading, junction_critical_celsius_);
  return reading;
}

void AmdCard::read_power(const host::FileTree& files, CardReading& reading) const {
  if (hwmon_path_.empty()) return;
  // Most chips have one of the two.
  reading.power_w = read_quantity(files, hwmon_path_ + "/power1_average", kMicrowatts);
  if (!reading.power_w) {
    reading.power_w = read_quantity(files, hwmon_path_ + "/power1_input", kMicrowatts);
  }
  reading.power_cap_w = read_quantity(files, hwmon_path_ + "/power1_cap", kMicrowatts);
}

void AmdCard::read_temperatures(const host::FileTree& files, CardReading& reading) const {
  for (const Thermometer& thermometer : thermometers_) {
    const auto celsius = read_celsius(files, thermometer);
    if (thermometer.label == "edge") reading.edge_celsius = celsius;
    if (thermometer.label == "junction") reading.junction_celsius = celsius;
    if (thermometer.label == "mem") reading.memory_celsius = celsius;
  }
}

void AmdCard::read_clocks(const host::FileTree& files, CardReading& reading) const {
  const auto table = [&](const char* name) {
    return files.read(card_.path + "/" + name, kTableMax).value_or("");
  };
  const std::string dpm_sclk = table("pp_dpm_sclk");
  reading.core_mhz_max = core_mhz_max(table("pp_od_clk_voltage"), dpm_sclk);
  if (!hwmon_path_.empty()) {
    reading.core_mhz = read_quantity(files, hwmon_path_ + "/freq1_input", kHertz);
    reading.memory_mhz = read_quantity(files, hwmon_path_ + "/freq2_input", kHertz);
  }
  if (!reading.core_mhz) reading.core_mhz = starred_mhz(dpm_sclk);
  if (!reading.memory_mhz) reading.memory_mhz = starred_mhz(table("pp_dpm_mclk"));
}

}  // namespace evener::telemetry
