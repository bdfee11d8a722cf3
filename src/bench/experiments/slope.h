#pragma once

#include <span>

namespace evener::bench {

// How y goes with x, by least squares.
struct Slope {
  double per_x = 0;
  double standard_error = 0;
  // That it rises: more than three standard errors above level, of eight points or more.
  bool rises = false;
};
Slope slope_of(std::span<const double> x, std::span<const double> y);  // of one size

}  // namespace evener::bench
