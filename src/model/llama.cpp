// llama: decoder with rotary attention over neighbouring pairs, dense or a mixture of experts;
// biases are optional.
// Source: reference/models/llama.md. Judge: golden models llama*.
#include <memory>

#include "model/decoder.h"
#include "model/families.h"
#include "model/layers.h"
#include "model/mixture.h"

namespace evener::model {
namespace {

struct LlamaLayer {
  LlamaLayer(const Config& c, size_t layer) : index(layer), feed_forward(c, layer) {}

  size_t index;
  Vector attn_norm;
  Matrix attn_q;
  Matrix attn_k;
  Matrix attn_v;
  Matrix attn_output;
  Vector q_bias;
  Vector k_bias;
  Vector v_bias;
  Vector output_bias;
  Vector ffn_norm;
  FeedForward feed_forward;

  void visit(const Config& c, const Part& p, LayerVisitor v);
  void forward(Pass& pass, const Config& c, const device::Tensor& x) const;
  static size_t scratch_floats(const Config& c, size_t num_rows);
};

void LlamaLayer::visit(const Config& c, const Part& p, LayerVisitor v) {
  const size_t q_width = c.num_heads * c.head_dim;
  const size_t kv_width = c.num_kv_heads * c.head_dim;
  const Cut of_heads = rows_of(p.heads, c.head_dim);
  const Cut of_kv_heads = rows_of(p.kv_heads, c.head_dim);
  v(attn_norm, "attn_norm.weight", {c.hidden_size});
  v(attn_q, "attn_q.weight", {q_width, c.hidden_size}, of_heads);
  v(attn_k, "attn_k.weight", {kv_width, c.hidden_size}, of_kv_heads);
  v(attn_v, "attn_v.weight", {kv_width, c.hidden_size}, of_kv_heads);
  v(attn_output, "attn_output.weight", {c.hidden_size, q_width}, columns_of(p.heads, c.head_dim));
  v.optional(q_bias, "attn_q.bias", {q_width}, of_heads);
  v.optional(k_bias, "attn_k.bias", {kv_width}, of_kv_heads);
  v.optional(v_bias, "attn_v.bias", {kv_width}, of_kv_heads);
  if (p.adds_biases()) v.optional(output_bias, "attn_output.bias", {c.hidden_size});
  v(ffn_norm, "ffn_norm.weight", {c.hidden_size});
  feed_forward.visit(c, p, v);
}

// x [rows, hidden], changed in place.
void LlamaLayer::forward(Pass& pass, const Config& c, const device::Tensor& x) const {
  {
    const Pass::Scope scope(pass);
    const device::Tensor h = pass.rms_norm(x, attn_norm.tensor, c.norm_eps);
    const auto [q, k, v] = pass.linear<3>(h, {{{attn_q.get(), q_bias.tensor},
                                               {attn_k.get(), k_bias.tensor},
                                               {attn_v.get(), v_bias.tensor}}});
    pass.rope(q.split_heads(c.num_heads));
    pass.rope(k.split_heads(c.num_kv_heads));
    const device::Tensor mixed = pass.attention(index, q, k, v);
    pass.add_reduced(x, pass.linear(mixed, *attn_output, output_bias.tensor));
  }
  const Pass::Scope scope(pass);
  const device::Tensor h = pass.rms_norm(x, ffn_norm.tensor, c.norm_eps);
  pass.add_reduced(x, feed_forward.forward(pass, h));
}

size_t LlamaLayer::scratch_floats(const Config& c, size_t num_rows) {
  const size_t behind =
      Scratch::size_of(num_rows, c.hidden_size) + FeedForward::scratch_floats(c, num_rows);
  return std::max(attention_scratch_floats(c, num_rows), behind);
}

Result<void> read_llama_config(const gguf::File& file, Config& config) {
  ASSIGN_OR_RETURN(const uint64_t num_experts, file.get_uint_or("llama.expert_count", 0));
  if (num_experts > 0) {
    config.mixture.intermediate_size = config.intermediate_size;
    RETURN_IF_ERROR(read_mixture_config(file, config));
  }
  if (config.rope.dim != config.head_dim) {
    return file.key_error("llama.rope.dimension_count",
                          "is " + std::to_string(config.rope.dim) + ", but the heads are " +
                              std::to_string(config.head_dim) + " wide");
  }
  config.rope.pairing = device::RopePairing::neighbours;
  return {};
}

}  // namespace

extern const Family llama;
const Family llama = {
    .name = "llama",
    .read_config = read_llama_config,
    .create = [](const Config& whole, const Part& part) -> std::unique_ptr<Model> {
      return std::make_unique<Decoder<LlamaLayer>>(whole, part);
    },
};

}  // namespace evener::model
