#pragma once

#include <cmath>
#include <cstddef>

namespace evener::engine {

// Mean and spread of numbers that come one by one (Welford's recurrence).
class RunningMean {
 public:
  void add(double value) {
    ++count_;
    const double before = value - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (value - mean_);
  }

  size_t count() const { return count_; }
  double mean() const { return mean_; }

  // Of the mean, as if the numbers were independent; 0 for fewer than two.
  double standard_error() const {
    if (count_ < 2) return 0;
    const auto count = static_cast<double>(count_);
    return std::sqrt(squares_ / (count - 1) / count);
  }

 private:
  size_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // sum of squared distances from the mean
};

}  // namespace evener::engine
