#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/assert.h"
#include "bench/statistics.h"

namespace evener::bench {
namespace {

constexpr uint64_t kSamplesForP99 = 100;
constexpr uint64_t kSamplesForInterval = 3;

uint64_t rank_of(double p, uint64_t n) {
  // 0.95 * 100 is a little above 95 in binary; such a hair must not move the rank.
  const double place = std::ceil(p * double(n) - 1e-9);
  return uint64_t(std::clamp(place, 1.0, double(n)));
}

// P(at least `k` of `n` draws succeed, each with probability `p`). Terms are relative to the
// largest one, so nothing overflows; those of no weight are not visited: time ~ sqrt(n).
double binomial_tail(uint64_t n, double p, uint64_t k) {
  if (p >= 1) return 1;
  constexpr double kNoWeight = 1e-18;
  const double odds = p / (1 - p);
  const auto mode = uint64_t(std::min(double(n), std::floor(double(n + 1) * p)));
  double all = 0;
  double tail = 0;
  double weight = 1;
  for (uint64_t i = mode; weight > kNoWeight; ++i) {
    all += weight;
    if (i >= k) tail += weight;
    if (i == n) break;
    weight *= double(n - i) / double(i + 1) * odds;
  }
  weight = 1;
  for (uint64_t i = mode; i > 0; --i) {
    weight *= double(i) / double(n - i + 1) / odds;
    if (weight <= kNoWeight) break;
    all += weight;
    if (i - 1 >= k) tail += weight;
  }
  return tail / all;
}

// The place (from 1) in the sorted sample that the median of a resample reaches with probability
// `p`: at least k of n draws must lie at or below it.
uint64_t place_of_resampled_median(uint64_t n, double p) {
  const uint64_t k = rank_of(0.5, n);
  uint64_t low = 1;
  uint64_t high = n;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (binomial_tail(n, double(middle) / double(n), k) >= p) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

double percentile(std::span<const double> sorted, double p) {
  EVENER_ASSERT(!sorted.empty());
  return sorted[rank_of(p, sorted.size()) - 1];
}

Summary summarise(std::span<const double> samples) {
  Summary out;
  out.n = samples.size();
  if (samples.empty()) return out;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());

  double sum = 0;
  for (const double x : sorted) sum += x;
  out.mean = sum / double(out.n);
  double squares = 0;
  for (const double x : sorted) squares += (x - out.mean) * (x - out.mean);
  if (out.n > 1) out.sd = std::sqrt(squares / double(out.n - 1));

  out.min = sorted.front();
  out.p5 = percentile(sorted, 0.05);
  out.p50 = percentile(sorted, 0.50);
  out.p90 = percentile(sorted, 0.90);
  out.p95 = percentile(sorted, 0.95);
  if (out.n >= kSamplesForP99) out.p99 = percentile(sorted, 0.99);
  out.max = sorted.back();
  if (out.n >= kSamplesForInterval) {
    out.ci95 = {.low = sorted[place_of_resampled_median(out.n, 0.025) - 1],
                .high = sorted[place_of_resampled_median(out.n, 0.975) - 1]};
  }
  return out;
}

}  // namespace evener::bench
