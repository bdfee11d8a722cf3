#pragma once

#include <cstddef>
#include <optional>

#include "base/error.h"
#include "gguf/file.h"
#include "model/config.h"
#include "model/layers.h"
#include "model/part.h"
#include "model/pass.h"
#include "model/weights.h"

namespace evener::model {

// A mixture of experts in place of an MLP, with one beside it that every token shares where the
// family has that:
//     S = the K experts of largest p = softmax(h Wr^T),   w_e = p_e / max(sum of p over S, 2^-14)
//     y = sum_{e in S} w_e down_e(silu(gate_e(h)) * up_e(h))  +  sigmoid(h . g) shared(h)
// Source: reference/models/qwen3moe.md, llama.md, qwen3next.md.
struct Mixture {
  Mixture(size_t layer_index, size_t first) : layer(layer_index), first_expert(first) {}

  size_t layer;         // among layers with experts
  size_t first_expert;  // that the rank has
  Matrix router;        // [X, hidden]
  Matrix gate;          // [X, intermediate, hidden]
  Matrix up;            // [X, intermediate, hidden]
  Matrix down;          // [X, hidden, intermediate]

  DenseMlp shared;
  Matrix shared_gate;  // g, [1, hidden]; empty if there is no shared expert

  void visit(const Config& c, const Part& p, LayerVisitor& v);
  // h [rows, hidden]. Not yet summed over ranks.
  device::Tensor forward(Pass& pass, const device::Tensor& h) const;
  static size_t scratch_floats(const Config& c, size_t num_rows);
};

// The expert_* keys of the family. Files that do not state the width of an expert mean the one set
// in `config`, or else the K-th part of a dense MLP's. Errors: corrupt, unsupported (experts of
// different sizes).
Result<void> read_mixture_config(const gguf::File& file, Config& config);

// The half of a layer behind its mixer: a mixture in models that have experts, else an MLP.
struct FeedForward {
  FeedForward(const Config& c, size_t layer);

  std::optional<DenseMlp> dense;  // one of the two
  std::optional<Mixture> mixture;

  void visit(const Config& c, const Part& p, LayerVisitor& v);
  device::Tensor forward(Pass& pass, const device::Tensor& h) const;
  static size_t scratch_floats(const Config& c, size_t num_rows);
};

}  // namespace evener::model
