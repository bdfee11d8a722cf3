#include "model/delta_net.h"

namespace evener::model {

void DeltaNet::visit(const Config& c, LayerVisitor& v) {
  const DeltaNetConfig& d = c.delta_net;
  const size_t value_width = d.num_value_heads * d.head_dim;
  v(qkv, "attn_qkv.weight", {d.conv_channels(), c.hidden_size}, Shard::column);
  v(z_gate, "attn_gate.weight", {value_width, c.hidden_size}, Shard::column);
  v(beta, "ssm_beta.weight", {d.num_value_heads, c.hidden_size}, Shard::column);
  v(alpha, "ssm_alpha.weight", {d.num_value_heads, c.hidden_size}, Shard::column);
  v(taps, "ssm_conv1d.weight", {d.conv_channels(), d.conv_taps});
  v(dt_bias, "ssm_dt.bias", {d.num_value_heads});
  v(a, "ssm_a", {d.num_value_heads});
  v(norm, "ssm_norm.weight", {d.head_dim});
  v(out, "ssm_out.weight", {c.hidden_size, value_width}, Shard::row);
}

device::Tensor DeltaNet::forward(Pass& pass, const Config& c, size_t layer,
                                 const device::Tensor& h) const {
  const DeltaNetConfig& d = c.delta_net;
  const auto [u, z, b, decay] =
      pass.linear<4>(h, {{{qkv.get()}, {z_gate.get()}, {beta.get()}, {alpha.get()}}});
  const device::Tensor mixed = pass.causal_conv_silu(layer, u, taps.tensor);
  const device::Tensor o = pass.gated_delta_net(layer, {.qkv = mixed,
                                                        .beta = b,
                                                        .alpha = decay,
                                                        .a = a.tensor,
                                                        .dt_bias = dt_bias.tensor,
                                                        .num_key_heads = d.num_key_heads,
                                                        .mapping = d.mapping,
                                                        .norm_eps = c.norm_eps});
  const device::Tensor heads = o.split_heads(d.num_value_heads);
  pass.device().gated_rms_norm(heads, norm.tensor, c.norm_eps, z.split_heads(d.num_value_heads),
                               heads);
  return pass.linear(o, *out);
}

size_t DeltaNet::scratch_floats(const Config& c, size_t num_rows) {
  const DeltaNetConfig& d = c.delta_net;
  return 2 * Scratch::size_of(num_rows, d.conv_channels()) +
         2 * Scratch::size_of(num_rows, d.num_value_heads * d.head_dim) +
         2 * Scratch::size_of(num_rows, d.num_value_heads) +
         Scratch::size_of(num_rows, c.hidden_size);
}

}  // namespace evener::model
