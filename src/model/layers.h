#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "model/config.h"
#include "model/part.h"
#include "model/pass.h"
#include "model/weights.h"

namespace evener::model {

// What several families are put together from. Written for one rank: it has fewer outputs of a
// matrix than the model, and everything behind is as narrow. visit() gets the sizes of the whole
// model and what the rank has of them, forward() the sizes that the rank computes with.

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

  // `channels` are those of the intermediate ones that the part has.
  void visit(const MlpShape& shape, const Range& channels, const Part& p, LayerVisitor& v);
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

// The two ends of every model: token rows in, logits out. A part has those that its layers touch.
struct Ends {
  Matrix embedding;  // [vocabulary, hidden], of the part's tokens
  Vector norm;       // [hidden]
  Matrix head;       // [vocabulary, hidden]; the embedding's values if the file has none of its own

  void visit(const Config& c, const Part& p, TensorVisitor& v);
  // Of the whole vocabulary on shard 0; nothing on others.
  device::Tensor logits(Pass& pass, const Config& c, const device::Tensor& x) const;

  // Of a whole pass whose widest layer takes `layer_floats` besides x itself.
  static size_t scratch_floats(const Config& c, const Part& p, size_t num_rows,
                               size_t num_logit_rows, size_t layer_floats);
};

}  // namespace evener::model
