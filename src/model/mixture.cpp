#include "model/mixture.h"

#include <algorithm>
#include <string>

namespace evener::model {
namespace {

constexpr size_t kExpertsMax = 4096;

MlpShape dense_shape(const Config& c) {
  return {.hidden_size = c.hidden_size, .intermediate_size = c.intermediate_size};
}

MlpShape shared_shape(const Config& c) {
  return {
      .hidden_size = c.hidden_size, .intermediate_size = c.mixture.shared_size, .suffix = "_shexp"};
}

// The width of the experts, which files may state once a layer.
Result<size_t> read_expert_size(const gguf::File& file, const Config& config) {
  const std::string key = config.family + ".expert_feed_forward_length";
  if (!file.has(key)) {
    const MixtureConfig& m = config.mixture;
    return m.intermediate_size > 0 ? m.intermediate_size
                                   : config.intermediate_size / m.num_experts_per_token;
  }
  const size_t num_blocks = config.num_layers + config.num_mtp_layers;
  ASSIGN_OR_RETURN(const auto sizes, file.get_uints_each(key, num_blocks, kWidthMax));
  for (const uint64_t size : sizes) {
    if (size == sizes.front()) continue;
    Error error = file.key_error(key, "differs from layer to layer");
    error.code = Code::unsupported;
    return error;
  }
  return sizes.front();
}

}  // namespace

void Mixture::visit(const Config& c, const Part& p, LayerVisitor& v) {
  const MixtureConfig& m = c.mixture;
  const size_t intermediate = m.intermediate_size;
  v(router, "ffn_gate_inp.weight", {m.num_experts, c.hidden_size});
  const Range channels = p.expert_intermediate;
  if (m.gate_up_joined) {  // gate's rows of an expert, then up's
    const char* const name = "ffn_gate_up_exps.weight";
    const Range behind{.begin = intermediate + channels.begin, .count = channels.count};
    const auto shape = {m.num_experts, 2 * intermediate, c.hidden_size};
    v(gate, name, shape, {.experts = {p.experts}, .rows = {channels}});
    v(up, name, shape, {.experts = {p.experts}, .rows = {behind}});
  } else {
    const auto shape = {m.num_experts, intermediate, c.hidden_size};
    const Cut outputs{.experts = {p.experts}, .rows = {channels}};
    v(gate, "ffn_gate_exps.weight", shape, outputs);
    v(up, "ffn_up_exps.weight", shape, outputs);
  }
  v(down, "ffn_down_exps.weight", {m.num_experts, c.hidden_size, intermediate},
    {.experts = {p.experts}, .columns = {channels}});
  if (m.shared_size == 0) return;
  v(shared_gate, "ffn_gate_inp_shexp.weight", {1, c.hidden_size});
  shared.visit(shared_shape(c), p.shared_intermediate, p, v);
}

device::Tensor Mixture::forward(Pass& pass, const device::Tensor& h) const {
  const device::ExpertWeights experts{
      .gate = gate.get(), .up = up.get(), .down = down.get(), .first_expert = first_expert};
  if (!shared_gate) return pass.experts(layer, h, pass.linear(h, *router), experts);
  const auto [logits, share] = pass.linear<2>(h, {{{router.get()}, {shared_gate.get()}}});
  const device::Tensor y = pass.experts(layer, h, logits, experts);
  const device::Tensor said = shared.forward(pass, h);
  pass.device().sigmoid_mul(said, share, said);
  pass.device().add(said, y);
  return y;
}

size_t Mixture::scratch_floats(const Config& c, size_t num_rows) {
  const MixtureConfig& m = c.mixture;
  const size_t routed =
      Scratch::size_of(num_rows, m.num_experts) + Scratch::size_of(num_rows, c.hidden_size);
  if (m.shared_size == 0) return routed;
  return routed + Scratch::size_of(num_rows, 1) +
         DenseMlp::scratch_floats(shared_shape(c), num_rows);
}

Result<void> read_mixture_config(const gguf::File& file, Config& config) {
  const std::string& family = config.family;
  MixtureConfig& m = config.mixture;
  ASSIGN_OR_RETURN(m.num_experts, file.get_uint(family + ".expert_count", kExpertsMax));
  ASSIGN_OR_RETURN(m.num_experts_per_token,
                   file.get_uint(family + ".expert_used_count", kExpertsMax));
  if (m.num_experts == 0) return file.key_error(family + ".expert_count", "is 0");
  if (m.num_experts_per_token == 0 || m.num_experts_per_token > m.num_experts) {
    return file.key_error(family + ".expert_used_count",
                          "is " + std::to_string(m.num_experts_per_token) + " of " +
                              std::to_string(m.num_experts) + " experts");
  }
  ASSIGN_OR_RETURN(m.intermediate_size, read_expert_size(file, config));
  const std::string shared_key = family + ".expert_shared_feed_forward_length";
  ASSIGN_OR_RETURN(m.shared_size, file.get_uint_or(shared_key, 0, kWidthMax));
  if (m.intermediate_size == 0 || m.intermediate_size % kWidthUnit != 0) {
    return file.key_error(
        family + ".expert_feed_forward_length",
        "must be a multiple of 4 above 0, is " + std::to_string(m.intermediate_size));
  }
  if (m.shared_size % kWidthUnit != 0) {
    return file.key_error(shared_key,
                          "must be a multiple of 4, is " + std::to_string(m.shared_size));
  }
  m.gate_up_joined = file.find_tensor("blk.0.ffn_gate_up_exps.weight") != nullptr;
  return {};
}

FeedForward::FeedForward(const Config& c, size_t layer) {
  if (c.mixture.num_experts > 0) {
    mixture.emplace(layer, c.mixture.first_expert);
  } else {
    dense.emplace();
  }
}

void FeedForward::visit(const Config& c, const Part& p, LayerVisitor& v) {
  if (mixture) mixture->visit(c, p, v);
  if (dense) dense->visit(dense_shape(c), p.intermediate, p, v);
}

device::Tensor FeedForward::forward(Pass& pass, const device::Tensor& h) const {
  return mixture ? mixture->forward(pass, h) : dense->forward(pass, h);
}

size_t FeedForward::scratch_floats(const Config& c, size_t num_rows) {
  return c.mixture.num_experts > 0 ? Mixture::scratch_floats(c, num_rows)
                                   : DenseMlp::scratch_floats(dense_shape(c), num_rows);
}

}  // namespace evener::model
