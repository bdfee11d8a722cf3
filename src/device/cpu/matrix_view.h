#pragma once

#include <cstddef>

namespace evener::device::cpu {

// A matrix in host memory: rows lie `stride` floats apart, columns are neighbours.
template <class T>
struct BasicMatrixView {
  T* data = nullptr;
  size_t rows = 0;
  size_t cols = 0;
  size_t stride = 0;

  T* row(size_t index) const { return data + index * stride; }
};

using MatrixView = BasicMatrixView<float>;
using ConstMatrixView = BasicMatrixView<const float>;

}  // namespace evener::device::cpu
