#include "bench/experiments/slope.h"

#include <cmath>
#include <numeric>

#include "base/assert.h"

namespace evener::bench {
namespace {

constexpr size_t kPointsMin = 8;
// Arrivals come in clusters, and neighbours share a queue: two standard errors of points that are
// not independent would see a slope in one steady window of ten.
constexpr double kErrorsMin = 3;

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

Slope slope_of(std::span<const double> x, std::span<const double> y) {
  EVENER_ASSERT(x.size() == y.size());
  if (x.size() < 3) return {};
  const double x_mean = mean(x);
  const double y_mean = mean(y);
  double squares = 0;
  double products = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    squares += (x[i] - x_mean) * (x[i] - x_mean);
    products += (x[i] - x_mean) * (y[i] - y_mean);
  }
  if (squares <= 0) return {};
  Slope slope;
  slope.per_x = products / squares;
  double rest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double off = y[i] - y_mean - slope.per_x * (x[i] - x_mean);
    rest += off * off;
  }
  slope.standard_error = std::sqrt(rest / static_cast<double>(x.size() - 2) / squares);
  slope.rises = x.size() >= kPointsMin && slope.per_x > kErrorsMin * slope.standard_error;
  return slope;
}

}  // namespace evener::bench
