#include "reference/attention.h"

#include <algorithm>
#include <cmath>

namespace evener::reference {
namespace {

std::vector<double> softmax(std::vector<double> scores) {
  const double top = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - top);
  for (double& score : scores) score /= sum;
  return scores;
}

}  // namespace

Matrix attention(const AttentionShape& shape, size_t first_position, const Matrix& q,
                 const Matrix& k, const Matrix& v) {
  Matrix y(q.rows, q.cols);
  for (size_t r = 0; r < q.rows; ++r) {
    for (size_t h = 0; h < shape.num_heads; ++h) {
      const size_t kv = h / (shape.num_heads / shape.num_kv_heads);
      std::vector<double> scores(first_position + r + 1);
      for (size_t s = 0; s < scores.size(); ++s) {
        double dot = 0;
        for (size_t d = 0; d < shape.head_dim; ++d) {
          dot += q.at(r, h * shape.head_dim + d) * k.at(s, kv * shape.head_dim + d);
        }
        scores[s] = dot * shape.scale;
      }
      const std::vector<double> weights = softmax(std::move(scores));
      for (size_t s = 0; s < weights.size(); ++s) {
        for (size_t d = 0; d < shape.head_dim; ++d) {
          y.at(r, h * shape.head_dim + d) += weights[s] * v.at(s, kv * shape.head_dim + d);
        }
      }
    }
  }
  return y;
}

}  // namespace evener::reference
