#include "model/layers.h"

namespace evener::model {

void DenseMlp::visit(const MlpShape& shape, const Range& channels, const Part& p, LayerVisitor& v) {
  const size_t hidden = shape.hidden_size;
  const size_t intermediate = shape.intermediate_size;
  const std::string& suffix = shape.suffix;
  const Cut outputs = rows_of(channels);
  v(gate, "ffn_gate" + suffix + ".weight", {intermediate, hidden}, outputs);
  v(up, "ffn_up" + suffix + ".weight", {intermediate, hidden}, outputs);
  v(down, "ffn_down" + suffix + ".weight", {hidden, intermediate}, columns_of(channels));
  v.optional(gate_bias, "ffn_gate" + suffix + ".bias", {intermediate}, outputs);
  v.optional(up_bias, "ffn_up" + suffix + ".bias", {intermediate}, outputs);
  if (p.adds_biases()) v.optional(down_bias, "ffn_down" + suffix + ".bias", {hidden});
}

device::Tensor DenseMlp::forward(Pass& pass, const device::Tensor& h) const {
  const auto [gated, raised] =
      pass.linear<2>(h, {{{gate.get(), gate_bias.tensor}, {up.get(), up_bias.tensor}}});
  pass.device().silu_mul(gated, raised, raised);
  return pass.linear(raised, *down, down_bias.tensor);
}

size_t DenseMlp::scratch_floats(const MlpShape& shape, size_t num_rows) {
  return 2 * Scratch::size_of(num_rows, shape.intermediate_size) +
         Scratch::size_of(num_rows, shape.hidden_size);
}

size_t attention_scratch_floats(const Config& c, size_t num_rows) {
  return 2 * Scratch::size_of(num_rows, c.hidden_size) +
         2 * Scratch::size_of(num_rows, c.num_heads * c.head_dim) +
         2 * Scratch::size_of(num_rows, c.num_kv_heads * c.head_dim);
}

void head_norm_and_rope(Pass& pass, const Config& c, const device::Tensor& heads,
                        const Vector& gain) {
  pass.device().rms_norm(heads, gain.tensor, c.norm_eps, heads);
  pass.rope(heads);
}

void Ends::visit(const Config& c, const Part& p, TensorVisitor& v) {
  const std::vector<size_t> shape = {c.vocab_size, c.hidden_size};
  if (p.has_first_layer) {
    v.matrix(embedding, {.name = "token_embd.weight",
                         .shape = shape,
                         .cut = rows_of(p.vocabulary),
                         .use = device::WeightUse::embedding});
  }
  if (!p.has_last_layer) return;
  v.vector(norm, {.name = "output_norm.weight", .shape = {c.hidden_size}});
  v.matrix(head, {.name = "output.weight",
                  .shape = shape,
                  .cut = rows_of(p.vocabulary),
                  .substitute = "token_embd.weight"});
}

device::Tensor Ends::logits(Pass& pass, const Config& c, const device::Tensor& x) const {
  const device::Tensor wanted = pass.logit_rows(x);
  const device::Tensor part = pass.linear(pass.rms_norm(wanted, norm.tensor, c.norm_eps), *head);
  return pass.gather_columns(part, c.vocab_size);
}

size_t Ends::scratch_floats(const Config& c, const Part& p, size_t num_rows, size_t num_logit_rows,
                            size_t layer_floats) {
  size_t head_floats = 0;
  if (p.has_last_layer) {
    head_floats = 2 * Scratch::size_of(num_logit_rows, c.hidden_size) +
                  Scratch::size_of(num_logit_rows, p.vocabulary.count);
    const bool gathers = p.num_shards > 1 && p.shard == 0;
    if (gathers) head_floats += Scratch::size_of(num_logit_rows, c.vocab_size);
  }
  return Scratch::size_of(num_rows, c.hidden_size) + Scratch::size_of(num_rows, c.rope.dim) +
         std::max(layer_floats, head_floats);
}

}  // namespace evener::model
