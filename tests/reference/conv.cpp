#include "reference/conv.h"

#include "reference/activation.h"

namespace evener::reference {

Matrix causal_conv_silu(const Matrix& x, const Matrix& taps) {
  Matrix y(x.rows, x.cols);
  for (size_t t = 0; t < x.rows; ++t) {
    for (size_t c = 0; c < x.cols; ++c) {
      double sum = 0;
      for (size_t j = 0; j < taps.cols; ++j) {
        if (t + j + 1 >= taps.cols) sum += taps.at(c, j) * x.at(t + j + 1 - taps.cols, c);
      }
      y.at(t, c) = silu(sum);
    }
  }
  return y;
}

}  // namespace evener::reference
