#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// Source: reference/serving/bench.md, 2 and 9.

namespace evener::bench {

// Percentiles are by nearest rank: the value at place ceil(p * n) of the sorted sample. p99 is
// absent below 100 samples.
struct Summary {
  uint64_t n = 0;
  double mean = 0;
  double sd = 0;  // of the sample, n - 1
  double min = 0;
  double p5 = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  std::optional<double> p99;
  double max = 0;
  // 95 % bootstrap interval of the median, absent below three samples. It is the exact one: what
  // endless resampling would give.
  struct Interval {
    double low = 0;
    double high = 0;
    bool operator==(const Interval&) const = default;
  };
  std::optional<Interval> ci95;
  bool operator==(const Summary&) const = default;
};

// Samples that are no finite numbers must have been left out. Empty gives n = 0.
Summary summarise(std::span<const double> samples);

double percentile(std::span<const double> sorted, double p);  // sorted must not be empty

// Median of B over median of A with a 95 % interval: resampled on two levels, rounds and then the
// samples of each, paired by place where both have as many. Deterministic. Rounds without a sample
// are left out (of both, if rounds are paired). Absent below three samples on a side and where a
// median of A is not above zero. Above 20,000 samples fewer resamples are drawn, never below 1,000.
struct RatioEstimate {
  double ratio = 1;
  Summary::Interval interval;
  uint64_t num_a = 0;
  uint64_t num_b = 0;
};
std::optional<RatioEstimate> ratio_of_medians(std::span<const std::vector<double>> rounds_of_a,
                                              std::span<const std::vector<double>> rounds_of_b,
                                              unsigned num_resamples = 10'000);

}  // namespace evener::bench
