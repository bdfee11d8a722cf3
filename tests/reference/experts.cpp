#include "reference/experts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/activation.h"

namespace evener::reference {
namespace {

std::vector<double> scores_of(const RouteRule& rule, const Matrix& logits, size_t row) {
  std::vector<double> scores(logits.cols);
  double sum = 0;
  for (size_t e = 0; e < logits.cols; ++e) {
    scores[e] = rule.sigmoid ? sigmoid(logits.at(row, e)) : std::exp(logits.at(row, e));
    sum += scores[e];
  }
  for (double& score : scores) score /= rule.sigmoid ? 1 : sum;
  return scores;
}

StoredWeight matrix_of(const StoredWeight& stack, size_t num_experts, size_t expert) {
  const size_t size = stack.bytes.size() / num_experts;
  return {stack.dtype, stack.outputs, stack.inputs, stack.bytes.subspan(expert * size, size)};
}

}  // namespace

Choices route(const RouteRule& rule, const Matrix& logits) {
  Choices choices{rule.num_chosen, {}, Matrix(logits.rows, rule.num_chosen)};
  for (size_t r = 0; r < logits.rows; ++r) {
    const std::vector<double> scores = scores_of(rule, logits, r);
    std::vector<double> ranks = scores;
    for (size_t e = 0; e < rule.bias.cols; ++e) ranks[e] += rule.bias.at(0, e);
    std::vector<size_t> order(logits.cols);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return ranks[a] > ranks[b]; });
    double sum = 0;
    for (size_t k = 0; k < rule.num_chosen; ++k) sum += scores[order[k]];
    for (size_t k = 0; k < rule.num_chosen; ++k) {
      choices.experts.push_back(order[k]);
      const double divisor = rule.renormalise ? std::max(sum, std::ldexp(1.0, -14)) : 1;
      choices.weights.at(r, k) = scores[order[k]] / divisor * rule.scale;
    }
  }
  return choices;
}

Matrix expert_ffn(const StoredExperts& stored, const Choices& choices, const Matrix& x) {
  Matrix y(x.rows, stored.down.outputs);
  for (size_t r = 0; r < x.rows; ++r) {
    Matrix row(1, x.cols);
    std::copy_n(&x.values[r * x.cols], x.cols, row.values.begin());
    for (size_t k = 0; k < choices.num_chosen; ++k) {
      const size_t expert = choices.experts[r * choices.num_chosen + k];
      const size_t n = stored.num_experts;
      Matrix half = linear(matrix_of(stored.gate, n, expert), row).y;
      const Matrix up = linear(matrix_of(stored.up, n, expert), row).y;
      for (size_t i = 0; i < half.cols; ++i) half.values[i] = silu(half.values[i]) * up.values[i];
      const Matrix out = linear(matrix_of(stored.down, n, expert), half).y;
      for (size_t c = 0; c < y.cols; ++c) y.at(r, c) += choices.weights.at(r, k) * out.at(0, c);
    }
  }
  return y;
}

}  // namespace evener::reference
