#include "model/delta_net.h"

#include <vector>

namespace evener::model {
namespace {

// `count` rows from `begin` on of every key head, whose rows are `num_rows` neighbours.
void add_rows_of_heads(std::vector<RowRange>& rows, size_t num_heads, size_t num_rows,
                       const RowRange& of_head) {
  for (size_t head = 0; head < num_heads; ++head) {
    rows.push_back({.begin = head * num_rows + of_head.begin, .count = of_head.count});
  }
}

}  // namespace

void DeltaNet::visit(const Config& c, LayerVisitor& v) {
  const DeltaNetConfig& d = c.delta_net;
  const size_t value_width = d.num_value_heads * d.head_dim;
  if (d.maps == DeltaNetMaps::joined_heads) {
    visit_joined_heads(c, v);
  } else {
    v(qkv, "attn_qkv.weight", {d.conv_channels(), c.hidden_size}, Shard::column);
    v(z_gate, "attn_gate.weight", {value_width, c.hidden_size}, Shard::column);
  }
  if (d.maps == DeltaNetMaps::apart) {
    v(beta, "ssm_beta.weight", {d.num_value_heads, c.hidden_size}, Shard::column);
    v(alpha, "ssm_alpha.weight", {d.num_value_heads, c.hidden_size}, Shard::column);
  } else {
    visit_joined_ba(c, v);
  }
  v(taps, "ssm_conv1d.weight", {d.conv_channels(), d.conv_taps});
  v(dt_bias, "ssm_dt.bias", {d.num_value_heads});
  v(a, "ssm_a", {d.num_value_heads});
  v(norm, "ssm_norm.weight", {d.head_dim});
  v(out, "ssm_out.weight", {c.hidden_size, value_width}, Shard::row);
}

// ssm_in: for each key head its q, its k, the values and the gates of its value heads.
void DeltaNet::visit_joined_heads(const Config& c, LayerVisitor& v) {
  const DeltaNetConfig& d = c.delta_net;
  const size_t s = d.head_dim;
  const size_t values = d.num_value_heads / d.num_key_heads * s;
  const size_t head_rows = 2 * s + 2 * values;
  JointTensor of_qkv{.shape = {d.num_key_heads * head_rows, c.hidden_size}, .rows = {}};
  JointTensor of_z = of_qkv;
  add_rows_of_heads(of_qkv.rows, d.num_key_heads, head_rows, {.begin = 0, .count = s});
  add_rows_of_heads(of_qkv.rows, d.num_key_heads, head_rows, {.begin = s, .count = s});
  add_rows_of_heads(of_qkv.rows, d.num_key_heads, head_rows, {.begin = 2 * s, .count = values});
  add_rows_of_heads(of_z.rows, d.num_key_heads, head_rows,
                    {.begin = 2 * s + values, .count = values});
  const size_t value_width = d.num_value_heads * s;
  v.part(qkv, "ssm_in.weight", of_qkv, {d.conv_channels(), c.hidden_size}, Shard::column);
  v.part(z_gate, "ssm_in.weight", of_z, {value_width, c.hidden_size}, Shard::column);
}

// ssm_ba: for each key head the betas of its value heads, then their alphas.
void DeltaNet::visit_joined_ba(const Config& c, LayerVisitor& v) {
  const DeltaNetConfig& d = c.delta_net;
  const size_t values = d.num_value_heads / d.num_key_heads;
  JointTensor of_beta{.shape = {2 * d.num_value_heads, c.hidden_size}, .rows = {}};
  JointTensor of_alpha = of_beta;
  add_rows_of_heads(of_beta.rows, d.num_key_heads, 2 * values, {.begin = 0, .count = values});
  add_rows_of_heads(of_alpha.rows, d.num_key_heads, 2 * values, {.begin = values, .count = values});
  v.part(beta, "ssm_ba.weight", of_beta, {d.num_value_heads, c.hidden_size}, Shard::column);
  v.part(alpha, "ssm_ba.weight", of_alpha, {d.num_value_heads, c.hidden_size}, Shard::column);
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
