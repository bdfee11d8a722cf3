#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host/file_tree.h"

namespace evener::telemetry {

// What a number in a text means and may be. One outside [min, max] is damage, and all-ones words
// stand for "not reported": both are absent.
struct Quantity {
  double scale;  // to our unit
  double min;    // in our unit, included
  double max;
};

inline constexpr Quantity kMicrowatts{1e-6, 0, 10'000};    // to W
inline constexpr Quantity kMillidegrees{1e-3, -100, 200};  // to Celsius
inline constexpr Quantity kKilohertz{1e-3, 1, 20'000};     // to MHz
inline constexpr Quantity kHertz{1e-6, 1, 20'000};         // to MHz
inline constexpr Quantity kPercent{1e-2, 0, 1};            // to a share
inline constexpr Quantity kBytes{1, 0, double(uint64_t{1} << 50)};
inline constexpr Quantity kLanes{1, 1, 32};

// All of `text` but the blanks at its ends, as a decimal number.
std::optional<double> quantity_of(std::string_view text, const Quantity& quantity);
std::optional<double> read_quantity(const host::FileTree& files, const std::string& path,
                                    const Quantity& quantity);

// "16.0 GT/s PCIe": the speed of a link.
std::optional<double> gts_of(std::string_view text);

}  // namespace evener::telemetry
