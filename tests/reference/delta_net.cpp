#include "reference/delta_net.h"

#include <cmath>

#include "reference/activation.h"

namespace evener::reference {
namespace {

std::vector<double> unit_vector(const Matrix& x, size_t row, size_t begin, size_t n, double eps) {
  std::vector<double> y(n);
  double squares = 0;
  for (size_t i = 0; i < n; ++i) squares += x.at(row, begin + i) * x.at(row, begin + i);
  for (size_t i = 0; i < n; ++i) y[i] = x.at(row, begin + i) / std::sqrt(squares + eps);
  return y;
}

void run_head(const DeltaNetInput& in, size_t head, Matrix& y) {
  const size_t dim = in.head_dim;
  const size_t groups = in.num_key_heads;
  const size_t key_head = in.tiled ? head % groups : head / (in.num_value_heads / groups);
  Matrix state(dim, dim);  // [key, value]
  for (size_t t = 0; t < y.rows; ++t) {
    const auto q = unit_vector(in.qkv, t, key_head * dim, dim, in.norm_eps);
    const auto k = unit_vector(in.qkv, t, (groups + key_head) * dim, dim, in.norm_eps);
    const double g = in.a.at(0, head) * softplus(in.alpha.at(t, head) + in.dt_bias.at(0, head));
    for (double& m : state.values) m *= std::exp(g);
    for (size_t j = 0; j < dim; ++j) {
      double known = 0;
      for (size_t i = 0; i < dim; ++i) known += state.at(i, j) * k[i];
      const double v = in.qkv.at(t, (2 * groups + head) * dim + j);
      const double d = sigmoid(in.beta.at(t, head)) * (v - known);
      double read = 0;
      for (size_t i = 0; i < dim; ++i) read += (state.at(i, j) += k[i] * d) * q[i];
      y.at(t, head * dim + j) = read / std::sqrt(double(dim));
    }
  }
}

}  // namespace

Matrix gated_delta_net(const DeltaNetInput& input) {
  Matrix y(input.qkv.rows, input.num_value_heads * input.head_dim);
  for (size_t head = 0; head < input.num_value_heads; ++head) run_head(input, head, y);
  return y;
}

}  // namespace evener::reference
