#include "model/delta_net.h"

#include <vector>

namespace evener::model {
namespace {

// Rows of a map whose outputs are q of all key heads, then k of all, then the value heads.
std::vector<Range> rows_of_qkv(const DeltaNetConfig& d, const Part& p) {
  const size_t s = d.head_dim;
  std::vector<Range> rows;
  append(rows, scaled(p.key_heads, s));
  append(rows,
         scaled({.begin = d.num_key_heads + p.key_heads.begin, .count = p.key_heads.count}, s));
  for (const Range& heads : p.value_heads) {
    append(rows, scaled({.begin = 2 * d.num_key_heads + heads.begin, .count = heads.count}, s));
  }
  return rows;
}

std::vector<Range> of_value_heads(const Part& p, size_t width) {
  std::vector<Range> ranges;
  for (const Range& heads : p.value_heads) append(ranges, scaled(heads, width));
  return ranges;
}

// A map that goes key head by key head, each with `head_rows` rows. From `begin` on these have
// `width` rows for each of its value heads.
struct HeadByHead {
  size_t head_rows;
  size_t begin;
  size_t width;
};
void append_value_heads(std::vector<Range>& rows, const HeadByHead& map, const DeltaNetConfig& d,
                        const Part& p) {
  const size_t per_key_head = d.num_value_heads / d.num_key_heads;
  for (const Range& heads : p.value_heads) {
    for (size_t head = heads.begin; head < heads.end(); ++head) {
      const size_t place = map.begin + head % per_key_head * map.width;
      append(rows, {.begin = head / per_key_head * map.head_rows + place, .count = map.width});
    }
  }
}

}  // namespace

void DeltaNet::visit(const Config& c, const Part& p, LayerVisitor& v) {
  const DeltaNetConfig& d = c.delta_net;
  const size_t value_width = d.num_value_heads * d.head_dim;
  const Cut of_heads{.rows = of_value_heads(p, 1)};
  const Cut of_qkv{.rows = rows_of_qkv(d, p)};
  if (d.maps == DeltaNetMaps::joined_heads) {
    visit_joined_heads(c, p, v);
  } else {
    v(qkv, "attn_qkv.weight", {d.conv_channels(), c.hidden_size}, of_qkv);
    v(z_gate, "attn_gate.weight", {value_width, c.hidden_size},
      {.rows = of_value_heads(p, d.head_dim)});
  }
  if (d.maps == DeltaNetMaps::apart) {
    v(beta, "ssm_beta.weight", {d.num_value_heads, c.hidden_size}, of_heads);
    v(alpha, "ssm_alpha.weight", {d.num_value_heads, c.hidden_size}, of_heads);
  } else {
    visit_joined_ba(c, p, v);
  }
  v(taps, "ssm_conv1d.weight", {d.conv_channels(), d.conv_taps}, of_qkv);
  v(dt_bias, "ssm_dt.bias", {d.num_value_heads}, of_heads);
  v(a, "ssm_a", {d.num_value_heads}, of_heads);
  v(norm, "ssm_norm.weight", {d.head_dim});
  v(out, "ssm_out.weight", {c.hidden_size, value_width},
    {.columns = of_value_heads(p, d.head_dim)});
}

// ssm_in: for each key head its q, its k, the values and the gates of its value heads.
void DeltaNet::visit_joined_heads(const Config& c, const Part& p, LayerVisitor& v) {
  const DeltaNetConfig& d = c.delta_net;
  const size_t s = d.head_dim;
  const size_t values = d.num_value_heads / d.num_key_heads * s;
  const size_t head_rows = 2 * s + 2 * values;
  Cut of_qkv;
  for (const size_t begin : {size_t{0}, s}) {
    for (size_t head = p.key_heads.begin; head < p.key_heads.end(); ++head) {
      append(of_qkv.rows, {.begin = head * head_rows + begin, .count = s});
    }
  }
  append_value_heads(of_qkv.rows, {.head_rows = head_rows, .begin = 2 * s, .width = s}, d, p);
  Cut of_z;
  append_value_heads(of_z.rows, {.head_rows = head_rows, .begin = 2 * s + values, .width = s}, d,
                     p);
  const auto shape = {d.num_key_heads * head_rows, c.hidden_size};
  v(qkv, "ssm_in.weight", shape, of_qkv);
  v(z_gate, "ssm_in.weight", shape, of_z);
}

// ssm_ba: for each key head the betas of its value heads, then their alphas.
void DeltaNet::visit_joined_ba(const Config& c, const Part& p, LayerVisitor& v) {
  const DeltaNetConfig& d = c.delta_net;
  const size_t values = d.num_value_heads / d.num_key_heads;
  Cut of_beta;
  Cut of_alpha;
  append_value_heads(of_beta.rows, {.head_rows = 2 * values, .begin = 0, .width = 1}, d, p);
  append_value_heads(of_alpha.rows, {.head_rows = 2 * values, .begin = values, .width = 1}, d, p);
  const auto shape = {2 * d.num_value_heads, c.hidden_size};
  v(beta, "ssm_ba.weight", shape, of_beta);
  v(alpha, "ssm_ba.weight", shape, of_alpha);
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
