#include <cmath>
#include <numbers>
#include <random>

#include "bench/load.h"

namespace evener::bench {
namespace {

// The library's distributions may differ from one to the next; a seed is to mean the same arrivals
// everywhere.
class Draws {
 public:
  explicit Draws(uint64_t seed) : bits_(seed) {}

  double uniform() { return static_cast<double>((bits_() >> 11) + 1) * 0x1p-53; }  // in (0, 1]
  double exponential() { return -std::log(uniform()); }
  double normal() {
    const double radius = std::sqrt(2 * exponential());
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  // Marsaglia and Tsang, A simple method for generating gamma variables (2000). Mean: `shape`.
  double gamma(double shape) {
    if (shape == 1) return exponential();
    if (shape < 1) return gamma(shape + 1) * std::pow(uniform(), 1 / shape);
    const double d = shape - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    while (true) {
      const double x = normal();
      const double root = 1 + c * x;
      const double v = root * root * root;
      const double u = uniform();
      if (v > 0 && std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
    }
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace

std::vector<Nanoseconds> arrivals(const Arrivals& arrivals, std::chrono::duration<double> window) {
  std::vector<Nanoseconds> out;
  if (!(arrivals.requests_per_s > 0) || !(arrivals.burstiness > 0)) return out;
  const bool even = std::isinf(arrivals.burstiness);
  Draws draws(arrivals.seed);
  double at_s = 0;
  while (out.size() < kNumArrivalsMax) {
    const double gap = even ? 1 : draws.gamma(arrivals.burstiness) / arrivals.burstiness;
    at_s += gap / arrivals.requests_per_s;
    if (!(at_s < window.count())) break;
    out.push_back(std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(at_s)));
  }
  return out;
}

}  // namespace evener::bench
