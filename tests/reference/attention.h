#pragma once

#include "reference/matrix.h"

namespace evener::reference {

struct AttentionShape {
  size_t num_heads;
  size_t num_kv_heads;
  size_t head_dim;
  double scale;
};

// q [rows, heads * head_dim] at positions first_position, ...; k and v [positions, kv_heads *
// head_dim] from position 0 on. Two passes: all scores, then all weights.
Matrix attention(const AttentionShape& shape, size_t first_position, const Matrix& q,
                 const Matrix& k, const Matrix& v);

}  // namespace evener::reference
