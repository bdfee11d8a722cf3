#pragma once

#include <cstddef>
#include <vector>

namespace evener::reference {

// Rows of doubles: what the judges compute with.
struct Matrix {
  size_t rows = 0;
  size_t cols = 0;
  std::vector<double> values;

  Matrix() = default;
  Matrix(size_t num_rows, size_t num_cols)
      : rows(num_rows), cols(num_cols), values(num_rows * num_cols) {}

  double& at(size_t r, size_t c) { return values[r * cols + c]; }
  double at(size_t r, size_t c) const { return values[r * cols + c]; }
};

}  // namespace evener::reference
