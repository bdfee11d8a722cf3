#include "bench/report/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace evener::bench {
namespace {

constexpr double kMilli = 1e3;
constexpr double kSecondsFromMs = 10e3;  // a column that reaches ten seconds is in seconds

struct Unit {
  double scale;
  std::string_view name;
};

Unit unit_for(double largest, std::string_view unit) {
  if (unit == "ms" && largest >= kSecondsFromMs) return {kMilli, "s"};
  if (unit == "share") return {0.01, "%"};
  if (unit == "tokens/s") return {1, "tok/s"};
  if (unit == "requests/s") return {1, "req/s"};
  const bool is_rate = unit == "bytes/h";
  if (unit != "bytes" && unit != "B" && !is_rate) return {1, unit};
  if (is_rate) return {1024.0 * 1024, "MiB/h"};
  if (largest >= 1024.0 * 1024 * 1024) return {1024.0 * 1024 * 1024, "GiB"};
  if (largest >= 1024.0 * 1024) return {1024.0 * 1024, "MiB"};
  if (largest >= 1024.0) return {1024.0, "KiB"};
  return {1, "B"};
}

bool is_count(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v == std::floor(v); });
}

std::string grouped(std::string digits) {
  const size_t begin = digits.starts_with('-') ? 1 : 0;
  const size_t point = std::min(digits.find('.'), digits.size());
  if (point - begin < 5) return digits;  // 1234 is read as easily
  for (size_t at = point; at > begin + 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

}  // namespace

std::string_view unit_of(std::string_view key, std::string_view unit) {
  static constexpr std::string_view kShares[] = {"cache_hit_share",  "accept_rate", "speed_kept",
                                                 "retention",        "score",       "reuse_share",
                                                 "accept_rate_gauge"};
  for (const std::string_view share : kShares) {
    if (key == share) return "share";
  }
  if (key.ends_with("requests_per_s")) return "requests/s";
  if (key.ends_with("_bytes")) return "bytes";
  if (key.ends_with("_bytes_per_h")) return "bytes/h";
  return unit;
}

NumberFormat format_for(std::span<const double> values, std::string_view unit) {
  double largest = 0;
  double smallest = 0;  // of those that are not zero
  for (const double value : values) {
    if (!std::isfinite(value) || value == 0) continue;
    const double size = std::abs(value);
    largest = std::max(largest, size);
    smallest = smallest == 0 ? size : std::min(smallest, size);
  }
  const Unit chosen = unit_for(largest, unit);
  NumberFormat format{.scale = chosen.scale, .decimals = 0, .unit = std::string(chosen.name)};
  if (smallest == 0 || (chosen.scale == 1 && is_count(values))) return format;
  const double written = smallest / chosen.scale;
  format.decimals = written >= 100 ? 0 : written >= 10 ? 1 : written >= 0.1 ? 2 : 3;
  if (largest / chosen.scale >= 10'000) format.decimals = std::min(format.decimals, 1);
  return format;
}

std::string number(double value, const NumberFormat& format) {
  if (!std::isfinite(value)) return "-";
  const double written = value / format.scale;
  if (std::abs(written) >= 1e15) return fmt::format("{:.3g}", written);
  return grouped(fmt::format("{:.{}f}", written, format.decimals));
}

std::string quantity(double value, std::string_view unit) {
  const NumberFormat format = format_for(std::array{value}, unit);
  const std::string digits = number(value, format);
  if (format.unit.empty()) return digits;
  return digits + (format.unit == "%" ? "" : " ") + format.unit;
}

}  // namespace evener::bench
