#pragma once

#include <cstddef>

#include "model/config.h"
#include "model/mixture.h"
#include "model/part.h"
#include "model/pass.h"
#include "model/weights.h"

namespace evener::model {

// The layer of qwen3 and qwen3moe: attention whose queries and keys are normalised head by head
// before the rotary, then an MLP or a mixture.
// Source: reference/models/qwen3.md, qwen3moe.md.
struct Qwen3Layer {
  Qwen3Layer(const Config& c, size_t layer) : index(layer), feed_forward(c, layer) {}

  size_t index;
  Vector attn_norm;
  Matrix attn_q;
  Matrix attn_k;
  Matrix attn_v;
  Vector attn_q_norm;
  Vector attn_k_norm;
  Matrix attn_output;
  Vector ffn_norm;
  FeedForward feed_forward;

  void visit(const Config& c, const Part& p, LayerVisitor v);
  // x [rows, hidden], changed in place.
  void forward(Pass& pass, const Config& c, const device::Tensor& x) const;
  static size_t scratch_floats(const Config& c, size_t num_rows);
};

}  // namespace evener::model
