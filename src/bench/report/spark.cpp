#include "bench/report/spark.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace evener::bench {
namespace {

constexpr std::string_view kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kLetters[] = {"_", ".", "-", "~", "=", "+", "*", "#"};
constexpr size_t kLevels = std::size(kBlocks);
static_assert(std::size(kLetters) == kLevels);

}  // namespace

std::string spark_line(std::span<const double> values, bool ascii) {
  if (values.empty()) return {};
  const double low = *std::min_element(values.begin(), values.end());
  const double range = *std::max_element(values.begin(), values.end()) - low;
  const std::string_view* levels = ascii ? kLetters : kBlocks;
  std::string line;
  for (const double value : values) {
    const double place = range > 0 ? (value - low) / range : 0.5;
    const auto level = size_t(std::lround(place * double(kLevels - 1)));
    line += levels[std::min(level, kLevels - 1)];
  }
  return line;
}

std::vector<double> peaks(std::span<const double> values, size_t num_buckets) {
  std::vector<double> found;
  const size_t num = std::min(values.size(), num_buckets);
  for (size_t i = 0; i < num; ++i) {
    const size_t begin = values.size() * i / num;
    const size_t end = values.size() * (i + 1) / num;
    found.push_back(
        *std::max_element(values.begin() + ptrdiff_t(begin), values.begin() + ptrdiff_t(end)));
  }
  return found;
}

std::string bar(double share, size_t width, bool ascii) {
  if (!(share > 0)) return {};
  const auto length = size_t(std::lround(std::min(share, 1.0) * double(width)));
  std::string line;
  for (size_t i = 0; i < std::max<size_t>(length, 1); ++i) line += ascii ? "#" : "█";
  return line;
}

}  // namespace evener::bench
