#pragma once

#include <cstddef>
#include <vector>

#include "reference/linear.h"
#include "reference/matrix.h"

namespace evener::reference {

struct RouteRule {
  size_t num_chosen = 1;  // K
  bool sigmoid = false;   // else softmax
  Matrix bias = {};       // [1, experts] on the scores, for the choice alone; empty: none
  bool renormalise = true;
  double scale = 1;
};

struct Choices {
  size_t num_chosen = 0;
  std::vector<size_t> experts;  // [rows, K]
  Matrix weights;               // [rows, K]
};

// Sorts all experts of each row of `logits` by rank, the lower number first of equal ones, and
// takes the first K.
Choices route(const RouteRule& rule, const Matrix& logits);

// A stack of matrices for each of the three maps; bytes hold them one behind the other.
struct StoredExperts {
  size_t num_experts;
  StoredWeight gate;
  StoredWeight up;
  StoredWeight down;
};

// Row by row and choice by choice: sum of w down(silu(gate(x)) * up(x)).
Matrix expert_ffn(const StoredExperts& stored, const Choices& choices, const Matrix& x);

}  // namespace evener::reference
