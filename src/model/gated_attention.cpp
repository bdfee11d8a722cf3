#include "model/gated_attention.h"

#include "model/layers.h"

namespace evener::model {

void GatedAttention::visit(const Config& c, const Part& p, LayerVisitor& v) {
  const size_t q_width = c.num_heads * c.head_dim;
  const size_t kv_width = c.num_kv_heads * c.head_dim;
  const Cut of_kv_heads = rows_of(p.kv_heads, c.head_dim);
  v(attn_q, "attn_q.weight", {2 * q_width, c.hidden_size}, rows_of(p.heads, 2 * c.head_dim));
  v(attn_k, "attn_k.weight", {kv_width, c.hidden_size}, of_kv_heads);
  v(attn_v, "attn_v.weight", {kv_width, c.hidden_size}, of_kv_heads);
  v(attn_q_norm, "attn_q_norm.weight", {c.head_dim});
  v(attn_k_norm, "attn_k_norm.weight", {c.head_dim});
  v(attn_output, "attn_output.weight", {c.hidden_size, q_width}, columns_of(p.heads, c.head_dim));
}

device::Tensor GatedAttention::forward(Pass& pass, const Config& c, size_t layer,
                                       const device::Tensor& h) const {
  const auto [q_and_gate, k, v] =
      pass.linear<3>(h, {{{attn_q.get()}, {attn_k.get()}, {attn_v.get()}}});
  const device::Tensor pairs = q_and_gate.split_heads(c.num_heads);  // [rows * H, 2 D]
  const device::Tensor gate = pairs.columns(c.head_dim, c.head_dim);
  const device::Tensor query =
      pass.rms_norm(pairs.columns(0, c.head_dim), attn_q_norm.tensor, c.norm_eps);
  pass.rope(query);
  head_norm_and_rope(pass, c, k.split_heads(c.num_kv_heads), attn_k_norm);

  const device::Tensor mixed = pass.attention(layer, query.join_heads(c.num_heads), k, v);
  const device::Tensor mixed_heads = mixed.split_heads(c.num_heads);
  pass.device().sigmoid_mul(mixed_heads, gate, mixed_heads);
  return pass.linear(mixed, *attn_output);
}

size_t GatedAttention::scratch_floats(const Config& c, size_t num_rows) {
  return 4 * Scratch::size_of(num_rows, c.num_heads * c.head_dim) +
         2 * Scratch::size_of(num_rows, c.num_kv_heads * c.head_dim) +
         Scratch::size_of(num_rows, c.hidden_size);
}

}  // namespace evener::model
