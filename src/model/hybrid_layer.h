#pragma once

#include <cstddef>
#include <optional>

#include "base/error.h"
#include "gguf/file.h"
#include "model/config.h"
#include "model/delta_net.h"
#include "model/gated_attention.h"
#include "model/mixture.h"
#include "model/part.h"
#include "model/pass.h"
#include "model/weights.h"

namespace evener::model {

// The layer of qwen3next, qwen35 and qwen35moe: a gated delta net or gated attention, then an MLP
// or a mixture. Source: reference/models/qwen3next.md, qwen35.md.
struct HybridLayer {
  HybridLayer(const Config& c, size_t layer);

  size_t index;                       // among the layers of its kind
  std::optional<DeltaNet> delta_net;  // one of the two
  std::optional<GatedAttention> attention;
  Vector attn_norm;
  Vector post_attention_norm;  // the norm before the MLP
  FeedForward feed_forward;

  void visit(const Config& c, const Part& p, LayerVisitor v);
  // x [rows, hidden], changed in place.
  void forward(Pass& pass, const Config& c, const device::Tensor& x) const;
  static size_t scratch_floats(const Config& c, size_t num_rows);
};

// Which layers are recurrent, and the sizes of their delta nets; how value heads map to key heads
// and how files hold the maps is the family's to say. Error: corrupt.
Result<void> read_hybrid_config(const gguf::File& file, Config& config);

// Checks the sections of a rotary whose axes are one and the same for text. Error: corrupt.
Result<void> check_rope_sections(const gguf::File& file, const Config& config);

}  // namespace evener::model
