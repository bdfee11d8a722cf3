#include "reference/linear.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "quant/format.h"
#include "tensor/float16.h"

namespace evener::reference {
namespace {

bool is_float(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

bool has_min(DType dtype) { return dtype == DType::Q4_1 || dtype == DType::Q5_1; }

float round_to_half(float value) { return f16_to_f32(f32_to_f16(value)); }

float largest_size(const double* x, size_t n) {
  float largest = 0;
  for (size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(float(x[i])));
  return largest;
}

void round_q8_0(const double* x, double* y) {
  const float largest = largest_size(x, 32);
  const float factor = largest > 0 ? 127.0f / largest : 0;
  const float scale = round_to_half(largest / 127.0f);
  for (size_t i = 0; i < 32; ++i) {
    y[i] = double(scale) * double(std::nearbyint(float(x[i]) * factor));
  }
}

void round_q8_k(const double* x, double* y) {
  const float largest = largest_size(x, 256);
  const double* const at =
      std::find_if(x, x + 256, [&](double v) { return std::abs(float(v)) == largest; });
  const float factor = largest > 0 ? -127.0f / float(*at) : 0;
  const float scale = factor != 0 ? 1.0f / factor : 0;
  for (size_t i = 0; i < 256; ++i) {
    y[i] = double(scale) * double(std::min(127.0f, std::nearbyint(float(x[i]) * factor)));
  }
}

// The half-precision sum of a block of 32, less the sum of the rounded activations.
double rounded_sum_excess(const double* x) {
  const float largest = largest_size(x, 32);
  const float factor = largest > 0 ? 127.0f / largest : 0;
  float sum = 0;
  for (size_t i = 0; i < 32; ++i) sum += std::nearbyint(float(x[i]) * factor);
  const float scale = largest / 127.0f;
  return double(round_to_half(scale * sum)) - double(round_to_half(scale)) * double(sum);
}

double stored_min(const StoredWeight& weight, size_t block) {
  uint16_t half = 0;
  std::memcpy(&half, weight.bytes.data() + block * info(weight.dtype).block_bytes + 2, 2);
  return double(f16_to_f32(half));
}

std::vector<float> decoded(const StoredWeight& weight) {
  std::vector<float> values(weight.outputs * weight.inputs);
  quant::find_format(weight.dtype)->decode(weight.bytes, values.data());
  return values;
}

}  // namespace

Matrix rounded_activations(DType dtype, const Matrix& x) {
  Matrix rounded = x;
  if (is_float(dtype)) return rounded;
  const bool by_256 = info(dtype).block_size == 256;
  for (size_t i = 0; i < x.values.size(); i += by_256 ? 256 : 32) {
    (by_256 ? round_q8_k : round_q8_0)(&x.values[i], &rounded.values[i]);
  }
  return rounded;
}

LinearResult linear(const StoredWeight& weight, const Matrix& x) {
  const std::vector<float> w = decoded(weight);
  const Matrix rounded = rounded_activations(weight.dtype, x);
  LinearResult result{Matrix(x.rows, weight.outputs), Matrix(x.rows, weight.outputs)};
  for (size_t r = 0; r < x.rows; ++r) {
    for (size_t o = 0; o < weight.outputs; ++o) {
      for (size_t i = 0; i < weight.inputs; ++i) {
        const double product = double(w[o * weight.inputs + i]) * rounded.at(r, i);
        result.y.at(r, o) += product;
        result.magnitude.at(r, o) += std::abs(product);
      }
      for (size_t i = 0; has_min(weight.dtype) && i < weight.inputs; i += 32) {
        const double min = stored_min(weight, (o * weight.inputs + i) / 32);
        result.y.at(r, o) += min * rounded_sum_excess(&x.values[r * x.cols + i]);
      }
    }
  }
  return result;
}

}  // namespace evener::reference
