#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "model/config.h"
#include "model/pass.h"
#include "model/weights.h"

namespace evener::model {

// Parts that several families are put together from. Written for one rank: a shard of a
// column-split matrix has fewer outputs, and everything behind it is as narrow as that shard.

struct MlpShape {
  size_t hidden_size = 0;
  size_t intermediate_size = 0;
  std::string suffix = {};  // in the names of its tensors
};

//     y = down(silu(gate(h)) * up(h))
struct DenseMlp {
  Matrix gate;  // [intermediate, hidden]
  Matrix up;    // [intermediate, hidden]
  Matrix down;  // [hidden, intermediate]
  Vector gate_bias;
  Vector up_bias;
  Vector down_bias;

  void visit(const MlpShape& shape, LayerVisitor& v);
  // h [rows, hidden]. Not yet summed over ranks.
  device::Tensor forward(Pass& pass, const device::Tensor& h) const;
  static size_t scratch_floats(const MlpShape& shape, size_t num_rows);
};

// Of attention between the projections of h and its output's: h, q, k, v, what is mixed, the
// output.
size_t attention_scratch_floats(const Config& c, size_t num_rows);

// heads [rows * n, head_dim], changed in place: each head is normalised, then turned.
void head_norm_and_rope(Pass& pass, const Config& c, const device::Tensor& heads,
                        const Vector& gain);

// The two ends of every model: token rows in, logits out.
struct Ends {
  Matrix embedding;  // [vocab, hidden]
  Vector norm;       // [hidden]
  Matrix head;       // [vocab, hidden]; the embedding's values if the file has none of its own

  void visit(const Config& c, TensorVisitor& v);
  device::Tensor logits(Pass& pass, const Config& c, const device::Tensor& x) const;

  // Of a whole pass whose widest layer takes `layer_floats` besides x itself.
  static size_t scratch_floats(const Config& c, size_t num_rows, size_t num_logit_rows,
                               size_t layer_floats);
};

}  // namespace evener::model
