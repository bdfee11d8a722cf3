#pragma once

#include "reference/matrix.h"

namespace evener::reference {

struct DeltaNetInput {
  Matrix qkv;      // [tokens, (2 G + V) S]
  Matrix beta;     // [tokens, V]
  Matrix alpha;    // [tokens, V]
  Matrix a;        // [1, V]
  Matrix dt_bias;  // [1, V]
  size_t num_key_heads;
  size_t num_value_heads;
  size_t head_dim;
  bool tiled;  // value head j uses key head j mod G, else j div (V / G)
  double norm_eps;
};

// The recurrence of reference/models/qwen3next.md over a whole sequence, from a zero state.
Matrix gated_delta_net(const DeltaNetInput& input);

}  // namespace evener::reference
