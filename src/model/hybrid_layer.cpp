#include "model/hybrid_layer.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace evener::model {
namespace {

// Of a delta net. Lists of the rows of each head are made before the file's tensors are looked at.
constexpr size_t kHeadsMax = size_t{1} << 16;

// A list in the file, or all but every n-th.
Result<std::vector<bool>> read_recurrent_layers(const gguf::File& file, const Config& config) {
  const size_t num_blocks = config.num_layers + config.num_mtp_layers;
  const std::string list_key = config.family + ".attention.recurrent_layers";
  std::vector<bool> recurrent(num_blocks);
  if (file.has(list_key)) {
    ASSIGN_OR_RETURN(recurrent, file.get_bools(list_key));
    if (recurrent.size() != num_blocks) {
      return file.key_error(list_key, "has " + std::to_string(recurrent.size()) +
                                          " entries, the model has " + std::to_string(num_blocks) +
                                          " blocks");
    }
  } else {
    const std::string key = config.family + ".full_attention_interval";
    ASSIGN_OR_RETURN(const uint64_t interval, file.get_uint_or(key, 4));
    if (interval == 0) return file.key_error(key, "is 0");
    for (size_t n = 0; n < num_blocks; ++n) recurrent[n] = (n + 1) % interval != 0;
  }
  recurrent.resize(config.num_layers);
  return recurrent;
}

}  // namespace

HybridLayer::HybridLayer(const Config& c, size_t layer) : feed_forward(c, layer) {
  const auto end = c.recurrent.begin() + static_cast<std::ptrdiff_t>(layer);
  index = static_cast<size_t>(std::count(c.recurrent.begin(), end, c.recurrent[layer]));
  if (c.recurrent[layer]) {
    delta_net.emplace();
  } else {
    attention.emplace();
  }
}

void HybridLayer::visit(const Config& c, const Part& p, LayerVisitor v) {
  v(attn_norm, "attn_norm.weight", {c.hidden_size});
  if (delta_net) delta_net->visit(c, p, v);
  if (attention) attention->visit(c, p, v);
  v(post_attention_norm, "post_attention_norm.weight", {c.hidden_size});
  feed_forward.visit(c, p, v);
}

void HybridLayer::forward(Pass& pass, const Config& c, const device::Tensor& x) const {
  {
    const Pass::Scope scope(pass);
    const device::Tensor h = pass.rms_norm(x, attn_norm.tensor, c.norm_eps);
    pass.add_reduced(x, delta_net ? delta_net->forward(pass, c, index, h)
                                  : attention->forward(pass, c, index, h));
  }
  const Pass::Scope scope(pass);
  const device::Tensor h = pass.rms_norm(x, post_attention_norm.tensor, c.norm_eps);
  pass.add_reduced(x, feed_forward.forward(pass, h));
}

size_t HybridLayer::scratch_floats(const Config& c, size_t num_rows) {
  const size_t mixer =
      std::max(DeltaNet::scratch_floats(c, num_rows), GatedAttention::scratch_floats(c, num_rows));
  return Scratch::size_of(num_rows, c.hidden_size) +
         std::max(mixer, FeedForward::scratch_floats(c, num_rows));
}

Result<void> read_hybrid_config(const gguf::File& file, Config& config) {
  ASSIGN_OR_RETURN(config.recurrent, read_recurrent_layers(file, config));
  const auto key = [&config](const char* name) { return config.family + ".ssm." + name; };
  const auto size = [&](const char* name, size_t max = kWidthMax) {
    return file.get_uint(key(name), max);
  };
  DeltaNetConfig& d = config.delta_net;
  ASSIGN_OR_RETURN(d.head_dim, size("state_size"));
  ASSIGN_OR_RETURN(d.num_key_heads, size("group_count", kHeadsMax));
  ASSIGN_OR_RETURN(d.num_value_heads, size("time_step_rank", kHeadsMax));
  ASSIGN_OR_RETURN(d.conv_taps, size("conv_kernel"));
  ASSIGN_OR_RETURN(const uint64_t inner_size, size("inner_size"));
  if (d.head_dim == 0 || d.num_key_heads == 0 || d.num_value_heads == 0 ||
      d.num_value_heads % d.num_key_heads != 0) {
    return file.key_error(key("group_count"),
                          std::to_string(d.num_value_heads) + " value heads do not share " +
                              std::to_string(d.num_key_heads) + " key heads evenly");
  }
  if (d.conv_taps < 2 || d.conv_taps > 8)
    return file.key_error(key("conv_kernel"), "is not in 2..8");
  if (inner_size != d.num_value_heads * d.head_dim) {
    return file.key_error(key("inner_size"), "is not time_step_rank * state_size");
  }
  return {};
}

Result<void> check_rope_sections(const gguf::File& file, const Config& config) {
  const std::string key = config.family + ".rope.dimension_sections";
  ASSIGN_OR_RETURN(const auto sections, file.get_uints(key, kWidthMax));
  if (sections.size() != 4 ||
      std::accumulate(sections.begin(), sections.end(), uint64_t{0}) != config.rope.dim / 2) {
    return file.key_error(key, "is not four numbers with the sum rope.dimension_count / 2");
  }
  return {};
}

}  // namespace evener::model
