#include "telemetry/quantity.h"

#include <charconv>
#include <cmath>

#include "host/text_lines.h"

namespace evener::telemetry {

std::optional<double> quantity_of(std::string_view text, const Quantity& quantity) {
  text = host::trim(text);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(value)) return {};
  value *= quantity.scale;
  if (value < quantity.min || value > quantity.max) return {};
  return value;
}

std::optional<double> read_quantity(const host::FileTree& files, const std::string& path,
                                    const Quantity& quantity) {
  const auto line = files.read_line(path);
  return line ? quantity_of(*line, quantity) : std::nullopt;
}

std::optional<double> gts_of(std::string_view text) {
  const auto speed = host::leading_real(text);
  return speed && *speed >= 1 && *speed <= 256 ? speed : std::nullopt;
}

}  // namespace evener::telemetry
