#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/device.h"

namespace evener::parallel {

// The values of a tensor [rows, cols] on the host, numbered row by row without gaps: in place where
// the device lets the host at them, else in a copy. Valid while no call of the device runs.
class HostRows {
 public:
  enum class Use { read, overwrite, update };

  // A copy, if one is needed, lies in `room`.
  HostRows(device::Device& device, const device::Tensor& x, Use use, std::vector<float>& room);

  // After changes: brings a copy to the device.
  void finish();

  size_t size() const { return x_.rows * x_.cols; }

  // f(values, place, n): the values from begin + place on lie side by side. All pieces of
  // [begin, begin + count) in rising order.
  template <class F>
  void each_piece(size_t begin, size_t count, F f) const {
    if (stride_ == x_.cols) return f(data_ + begin, size_t{0}, count);
    for (size_t place = 0; place < count;) {
      const size_t row = (begin + place) / x_.cols;
      const size_t col = (begin + place) % x_.cols;
      const size_t n = std::min(x_.cols - col, count - place);
      f(data_ + row * stride_ + col, place, n);
      place += n;
    }
  }

  // f(row, values) for every row.
  template <class F>
  void each_row(F f) const {
    for (size_t row = 0; row < x_.rows; ++row) {
      f(row, std::span<float>(data_ + row * stride_, x_.cols));
    }
  }

  // Values from `begin` on, and back; the span may lie in x at the same place.
  void copy_to(size_t begin, std::span<float> to) const;
  void copy_from(size_t begin, std::span<const float> from) const;

  // Of the values row by row, whatever lies between rows.
  uint64_t hash() const;

 private:
  device::Device& device_;
  device::Tensor x_;
  Use use_;
  std::vector<float>* room_ = nullptr;  // where the copy lies
  float* data_;
  size_t stride_;
};

// y[i] = ((x[0][i] + x[1][i]) + x[2][i]) + ... for i from begin on, of at least two; x may be
// written over: y = x[r] + begin.
void sum_in_order(std::span<const float* const> x, size_t begin, size_t count, float* y);

}  // namespace evener::parallel
