#include "reference/norm.h"

#include <cmath>

#include "reference/activation.h"

namespace evener::reference {

Matrix rms_norm(const Matrix& x, const Matrix& gain, double epsilon) {
  Matrix y(x.rows, x.cols);
  for (size_t r = 0; r < x.rows; ++r) {
    double squares = 0;
    for (size_t c = 0; c < x.cols; ++c) squares += x.at(r, c) * x.at(r, c);
    const double root = std::sqrt(squares / double(x.cols) + epsilon);
    for (size_t c = 0; c < x.cols; ++c) y.at(r, c) = x.at(r, c) / root * gain.at(0, c);
  }
  return y;
}

Matrix gated_rms_norm(const Matrix& x, const Matrix& gain, double epsilon, const Matrix& gate) {
  Matrix y = rms_norm(x, gain, epsilon);
  for (size_t i = 0; i < y.values.size(); ++i) y.values[i] *= silu(gate.values[i]);
  return y;
}

}  // namespace evener::reference
