#include "reference/kv_rounding.h"

#include <algorithm>
#include <cmath>

namespace evener::reference {
namespace {

// To `bits` significant bits; numbers below 2^lowest lie on the grid that those at 2^lowest have.
double round_to_bits(double value, int bits, int lowest) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  const int grid = std::max(exponent, lowest + 1) - bits;
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, exponent - grid)), grid);
}

}  // namespace

Matrix round_to_f16(const Matrix& values) {
  Matrix rounded = values;
  for (double& value : rounded.values) value = round_to_bits(value, 11, -14);
  return rounded;
}

Matrix round_to_q8_0(const Matrix& values) {
  Matrix rounded = values;
  for (size_t begin = 0; begin < rounded.values.size(); begin += 32) {
    double* const block = rounded.values.data() + begin;
    float largest = 0;
    for (size_t i = 0; i < 32; ++i) largest = std::max(largest, std::abs(float(block[i])));
    const auto step = float(round_to_bits(double(largest / 127.0f), 11, -14));
    const float per_step = step > 0 ? 1 / step : 0;
    for (size_t i = 0; i < 32; ++i) {
      const float code = std::nearbyint(float(block[i]) * per_step);
      block[i] = double(step) * double(std::clamp(code, -127.0f, 127.0f));
    }
  }
  return rounded;
}

Matrix round_to_fp8(const Matrix& values) {
  Matrix rounded = values;
  for (double& value : rounded.values) {
    value = std::clamp(round_to_bits(value, 4, -6), -448.0, 448.0);
  }
  return rounded;
}

}  // namespace evener::reference
