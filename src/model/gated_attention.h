#pragma once

#include <cstddef>

#include "model/config.h"
#include "model/part.h"
#include "model/pass.h"
#include "model/weights.h"

namespace evener::model {

// Attention whose output each head gates by itself, as qwen3next and qwen35 use it:
//     r = h Wq^T seen as [H, 2, D]: query_i = r[i, 0], gate_i = r[i, 1]
//     y = (attention(rope(rms(query)), rope(rms(k)), v) * sigmoid(gate)) Wo^T
// Source: reference/models/qwen3next.md.
struct GatedAttention {
  Matrix attn_q;  // [2 H D, hidden]
  Matrix attn_k;  // [Hk D, hidden]
  Matrix attn_v;  // [Hk D, hidden]
  Vector attn_q_norm;
  Vector attn_k_norm;
  Matrix attn_output;  // [hidden, H D]

  void visit(const Config& c, const Part& p, LayerVisitor& v);
  // h [rows, hidden]; `layer` counts attention layers. Not yet summed over ranks.
  device::Tensor forward(Pass& pass, const Config& c, size_t layer, const device::Tensor& h) const;
  static size_t scratch_floats(const Config& c, size_t num_rows);
};

}  // namespace evener::model
