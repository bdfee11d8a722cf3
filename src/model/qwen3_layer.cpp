#include "model/qwen3_layer.h"

#include <algorithm>

#include "model/layers.h"

namespace evener::model {

void Qwen3Layer::visit(const Config& c, const Part& p, LayerVisitor v) {
  const size_t q_width = c.num_heads * c.head_dim;
  const size_t kv_width = c.num_kv_heads * c.head_dim;
  const Cut of_heads = rows_of(p.heads, c.head_dim);
  const Cut of_kv_heads = rows_of(p.kv_heads, c.head_dim);
  v(attn_norm, "attn_norm.weight", {c.hidden_size});
  v(attn_q, "attn_q.weight", {q_width, c.hidden_size}, of_heads);
  v(attn_k, "attn_k.weight", {kv_width, c.hidden_size}, of_kv_heads);
  v(attn_v, "attn_v.weight", {kv_width, c.hidden_size}, of_kv_heads);
  v(attn_q_norm, "attn_q_norm.weight", {c.head_dim});
  v(attn_k_norm, "attn_k_norm.weight", {c.head_dim});
  v(attn_output, "attn_output.weight", {c.hidden_size, q_width}, columns_of(p.heads, c.head_dim));
  v(ffn_norm, "ffn_norm.weight", {c.hidden_size});
  feed_forward.visit(c, p, v);
}

void Qwen3Layer::forward(Pass& pass, const Config& c, const device::Tensor& x) const {
  {
    const Pass::Scope scope(pass);
    const device::Tensor h = pass.rms_norm(x, attn_norm.tensor, c.norm_eps);
    const auto [q, k, v] = pass.linear<3>(h, {{{attn_q.get()}, {attn_k.get()}, {attn_v.get()}}});
    head_norm_and_rope(pass, c, q.split_heads(c.num_heads), attn_q_norm);
    head_norm_and_rope(pass, c, k.split_heads(c.num_kv_heads), attn_k_norm);
    const device::Tensor mixed = pass.attention(index, q, k, v);
    pass.add_reduced(x, pass.linear(mixed, *attn_output));
  }
  const Pass::Scope scope(pass);
  const device::Tensor h = pass.rms_norm(x, ffn_norm.tensor, c.norm_eps);
  pass.add_reduced(x, feed_forward.forward(pass, h));
}

size_t Qwen3Layer::scratch_floats(const Config& c, size_t num_rows) {
  const size_t behind =
      Scratch::size_of(num_rows, c.hidden_size) + FeedForward::scratch_floats(c, num_rows);
  return std::max(attention_scratch_floats(c, num_rows), behind);
}

}  // namespace evener::model
