#pragma once

#include <span>
#include <string>
#include <string_view>

namespace evener::bench {

// How the numbers of one column are written: one unit and as many decimals in each of its rows.
struct NumberFormat {
  double scale = 1;  // what is written is value / scale
  int decimals = 0;
  std::string unit;  // of what is written: "tok/s", "MiB", "%"; empty for plain numbers
};

// For values of `unit` as metrics and Value name them: long times become seconds, bytes MiB,
// shares of 0..1 ("share") per cent; three digits of the smallest value are kept.
NumberFormat format_for(std::span<const double> values, std::string_view unit);

// The unit that a figure is written in: "share" for those between 0 and 1, "requests/s", else
// `unit`.
std::string_view unit_of(std::string_view key, std::string_view unit);

// "12,345.6", without the unit; "-" if it is no finite number.
std::string number(double value, const NumberFormat& format);

// One value with its unit: "47.6 s".
std::string quantity(double value, std::string_view unit);

}  // namespace evener::bench
