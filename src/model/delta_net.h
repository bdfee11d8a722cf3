#pragma once

#include <cstddef>

#include "model/config.h"
#include "model/part.h"
#include "model/pass.h"
#include "model/weights.h"

namespace evener::model {

// A gated delta net: a recurrent layer whose state is one S x S matrix per value head.
// Source: reference/models/qwen3next.md and qwen35.md.
struct DeltaNet {
  Matrix qkv;      // [(2 G + V) S, hidden]
  Matrix z_gate;   // [V S, hidden]
  Matrix beta;     // [V, hidden]
  Matrix alpha;    // [V, hidden]
  Vector taps;     // [(2 G + V) S, C]
  Vector dt_bias;  // [V]
  Vector a;        // [V], negative
  Vector norm;     // [S]
  Matrix out;      // [hidden, V S]

  void visit(const Config& c, const Part& p, LayerVisitor& v);
  // h [rows, hidden]; `layer` counts recurrent layers. Not yet summed over ranks.
  device::Tensor forward(Pass& pass, const Config& c, size_t layer, const device::Tensor& h) const;
  static size_t scratch_floats(const Config& c, size_t num_rows);

 private:
  void visit_joined_heads(const Config& c, const Part& p, LayerVisitor& v);
  void visit_joined_ba(const Config& c, const Part& p, LayerVisitor& v);
};

}  // namespace evener::model
