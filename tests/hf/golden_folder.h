#pragma once

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gguf/file.h"
#include "quant/format.h"
#include "safetensors/folder_writer.h"

namespace evener::hf::test {

// What is to be wrong with a folder. Names are the folder's.
struct Edits {
  std::set<std::string> left_out = {};
  std::map<std::string, std::vector<uint64_t>> shapes = {};
  std::map<std::string, std::string> types = {};  // claimed for what is F32
};

// A golden GGUF file written as the folder that it could have been made from. Each rule of the way
// there is written down here once more, the other way round.
class GoldenFolder {
 public:
  explicit GoldenFolder(const std::string& model, Edits edits = {})
      : edits_(std::move(edits)),
        file_(open(model)),
        family_(*file_.get_string("general.architecture")) {
    for (const gguf::Tensor& tensor : file_.tensors()) add(tensor);
    writer.write();
    writer.write_file("config.json", config().dump());
  }

  const gguf::File& file() const { return file_; }
  const std::filesystem::path& path() const { return writer.path(); }
  nlohmann::json config() const;

  safetensors::FolderWriter writer;

 private:
  using Numbers = std::vector<float>;

  static gguf::File open(const std::string& model) {
    const auto path = std::filesystem::path(EVENER_TEST_DATA) / "models" / (model + ".gguf");
    auto file = gguf::File::open(path);
    EXPECT_TRUE(file.has_value()) << to_string(file.error());
    return *std::move(file);
  }
  uint64_t number(const std::string& key, uint64_t fallback = 0) const {
    return *file_.get_uint_or(family_ + "." + key, fallback);
  }
  bool is_hybrid() const { return family_ == "qwen35" || family_ == "qwen35moe"; }
  bool is_mixture() const { return number("expert_count") > 0; }
  uint64_t num_layers() const { return number("block_count") - number("nextn_predict_layers"); }

  void add(const gguf::Tensor& tensor);
  std::string their_name(const std::string& name) const;
  void add_stack(const std::string& name, const gguf::Tensor& tensor, const Numbers& numbers);
  Numbers undone(const std::string& name, const gguf::Tensor& tensor, Numbers numbers) const;

  void write(const std::string& name, std::vector<uint64_t> shape, const Numbers& numbers);

  Edits edits_;
  gguf::File file_;
  std::string family_;
};

// Rows (or columns, if each number is one) of `numbers`, which `from` says for each.
template <class From>
std::vector<float> rearranged(const std::vector<float>& numbers, size_t count, From from) {
  const size_t width = numbers.size() / count;
  std::vector<float> result;
  for (size_t row = 0; row < count; ++row) {
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(from(row) * width);
    result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return result;
}

inline std::string GoldenFolder::their_name(const std::string& name) const {
  const std::string root = is_hybrid() ? "model.language_model." : "model.";
  if (name == "token_embd.weight") return root + "embed_tokens.weight";
  if (name == "output_norm.weight") return root + "norm.weight";
  if (name == "output.weight") return "lm_head.weight";
  const bool has_post_norm = is_hybrid() || family_ == "qwen3next";
  const std::string mlp = family_ == "llama" && is_mixture() ? "block_sparse_moe." : "mlp.";
  const bool is_mixtral = mlp != "mlp.";
  const std::map<std::string, std::string> names = {
      {"attn_norm.weight", "input_layernorm.weight"},
      {has_post_norm ? "post_attention_norm.weight" : "ffn_norm.weight",
       "post_attention_layernorm.weight"},
      {"attn_q.weight", "self_attn.q_proj.weight"},
      {"attn_k.weight", "self_attn.k_proj.weight"},
      {"attn_v.weight", "self_attn.v_proj.weight"},
      {"attn_output.weight", "self_attn.o_proj.weight"},
      {"attn_q.bias", "self_attn.q_proj.bias"},
      {"attn_k.bias", "self_attn.k_proj.bias"},
      {"attn_v.bias", "self_attn.v_proj.bias"},
      {"attn_output.bias", "self_attn.o_proj.bias"},
      {"attn_q_norm.weight", "self_attn.q_norm.weight"},
      {"attn_k_norm.weight", "self_attn.k_norm.weight"},
      {"ffn_gate.weight", "mlp.gate_proj.weight"},
      {"ffn_up.weight", "mlp.up_proj.weight"},
      {"ffn_down.weight", "mlp.down_proj.weight"},
      {"ffn_gate.bias", "mlp.gate_proj.bias"},
      {"ffn_up.bias", "mlp.up_proj.bias"},
      {"ffn_down.bias", "mlp.down_proj.bias"},
      {"ffn_gate_inp.weight", mlp + "gate.weight"},
      {"ffn_gate_exps.weight", mlp + "experts.*." + (is_mixtral ? "w1" : "gate_proj") + ".weight"},
      {"ffn_up_exps.weight", mlp + "experts.*." + (is_mixtral ? "w3" : "up_proj") + ".weight"},
      {"ffn_down_exps.weight", mlp + "experts.*." + (is_mixtral ? "w2" : "down_proj") + ".weight"},
      {"ffn_gate_up_exps.weight", "mlp.experts.gate_up_proj"},
      {"ffn_gate_inp_shexp.weight", "mlp.shared_expert_gate.weight"},
      {"ffn_gate_shexp.weight", "mlp.shared_expert.gate_proj.weight"},
      {"ffn_up_shexp.weight", "mlp.shared_expert.up_proj.weight"},
      {"ffn_down_shexp.weight", "mlp.shared_expert.down_proj.weight"},
      {"attn_qkv.weight", "linear_attn.in_proj_qkv.weight"},
      {"attn_gate.weight", "linear_attn.in_proj_z.weight"},
      {"ssm_beta.weight", "linear_attn.in_proj_b.weight"},
      {"ssm_alpha.weight", "linear_attn.in_proj_a.weight"},
      {"ssm_in.weight", "linear_attn.in_proj_qkvz.weight"},
      {"ssm_ba.weight", "linear_attn.in_proj_ba.weight"},
      {"ssm_conv1d.weight", "linear_attn.conv1d.weight"},
      {"ssm_dt.bias", "linear_attn.dt_bias"},
      {"ssm_a", "linear_attn.A_log"},
      {"ssm_norm.weight", "linear_attn.norm.weight"},
      {"ssm_out.weight", "linear_attn.out_proj.weight"},
      {"nextn.eh_proj.weight", "fc.weight"},
      {"nextn.enorm.weight", "pre_fc_norm_embedding.weight"},
      {"nextn.hnorm.weight", "pre_fc_norm_hidden.weight"},
      {"nextn.shared_head_norm.weight", "norm.weight"},
  };
  const size_t dot = name.find('.', 4);
  const std::string layer = name.substr(4, dot - 4);
  const std::string rest = name.substr(dot + 1);
  const auto at = names.find(rest);
  EXPECT_NE(at, names.end()) << name;
  if (rest.starts_with("nextn.")) return "mtp." + at->second;
  uint64_t index = 0;
  std::from_chars(layer.data(), layer.data() + layer.size(), index);
  if (index >= num_layers()) return "mtp.layers.0." + at->second;
  return root + "layers." + layer + "." + at->second;
}

inline GoldenFolder::Numbers GoldenFolder::undone(const std::string& name,
                                                  const gguf::Tensor& tensor,
                                                  Numbers numbers) const {
  const size_t rows = tensor.shape.size() == 1 ? tensor.shape[0] : tensor.shape[1];
  const size_t dim = number("attention.key_length");
  if (family_ == "llama" &&
      (name.find("q_proj") != std::string::npos || name.find("k_proj") != std::string::npos)) {
    return rearranged(numbers, rows, [dim](size_t row) {
      const size_t k = row % dim;
      return row / dim * dim + (k < dim / 2 ? 2 * k : 2 * (k - dim / 2) + 1);
    });
  }
  const bool folded = is_hybrid() || family_ == "qwen3next";
  if (folded && name.ends_with("norm.weight") && !name.ends_with("linear_attn.norm.weight")) {
    for (float& value : numbers) value -= 1;
  }
  if (folded && name.find("pre_fc_norm") != std::string::npos) {
    for (float& value : numbers) value -= 1;
  }
  if (name.ends_with("A_log")) {
    for (float& value : numbers) value = std::log(-value);
  }
  if (!is_hybrid() || name.find("linear_attn.") == std::string::npos) return numbers;
  const size_t keys = number("ssm.group_count");
  const size_t values = number("ssm.time_step_rank");
  const size_t state = number("ssm.state_size");
  // Of stored value head s: the one of GGUF that it became.
  const auto head = [=](size_t s) { return s % (values / keys) * keys + s / (values / keys); };
  const auto by_head = [&](size_t width, size_t begin) {
    return [=](size_t row) {
      if (row < begin) return row;
      return begin + head((row - begin) / width) * width + (row - begin) % width;
    };
  };
  if (name.ends_with("linear_attn.norm.weight")) return numbers;
  if (name.ends_with("in_proj_qkv.weight") || name.ends_with("conv1d.weight")) {
    return rearranged(numbers, rows, by_head(state, 2 * keys * state));
  }
  if (!name.ends_with("out_proj.weight")) {
    return rearranged(numbers, rows, by_head(rows / values, 0));
  }
  Numbers result;
  for (size_t row = 0; row < rows; ++row) {
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(row * tensor.shape[0]);
    const Numbers one(begin, begin + static_cast<std::ptrdiff_t>(tensor.shape[0]));
    const Numbers moved = rearranged(one, tensor.shape[0], by_head(state, 0));
    result.insert(result.end(), moved.begin(), moved.end());
  }
  return result;
}

inline void GoldenFolder::write(const std::string& name, std::vector<uint64_t> shape,
                                const Numbers& numbers) {
  if (edits_.left_out.contains(name)) return;
  if (edits_.shapes.contains(name)) shape = edits_.shapes.at(name);
  const bool has_type = edits_.types.contains(name);
  writer.add<float>(name, has_type ? edits_.types.at(name) : "F32", shape, numbers);
}

// Experts one by one.
inline void GoldenFolder::add_stack(const std::string& name, const gguf::Tensor& tensor,
                                    const Numbers& numbers) {
  const size_t size = tensor.shape[0] * tensor.shape[1];
  for (size_t expert = 0; expert < tensor.shape[2]; ++expert) {
    std::string one = name;
    one.replace(one.find('*'), 1, std::to_string(expert));
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(expert * size);
    write(one, {tensor.shape[1], tensor.shape[0]},
          Numbers(begin, begin + static_cast<std::ptrdiff_t>(size)));
  }
}

inline void GoldenFolder::add(const gguf::Tensor& tensor) {
  if (tensor.name == "rope_freqs.weight") return;
  const std::string name = their_name(tensor.name);
  Numbers numbers(tensor.num_elements());
  quant::find_format(tensor.dtype)->decode(tensor.bytes, numbers.data());
  numbers = undone(name, tensor, std::move(numbers));
  if (name.find('*') != std::string::npos) return add_stack(name, tensor, numbers);
  std::vector<uint64_t> shape(tensor.shape.rbegin(), tensor.shape.rend());
  if (name.ends_with("conv1d.weight")) shape = {shape[0], 1, shape[1]};
  if (name.ends_with("shared_expert_gate.weight")) shape = {1, numbers.size()};
  write(name, shape, numbers);
}

inline nlohmann::json GoldenFolder::config() const {
  using nlohmann::json;
  const std::map<std::string, std::string> types = {{"llama", is_mixture() ? "mixtral" : "llama"},
                                                    {"qwen3", "qwen3"},
                                                    {"qwen3moe", "qwen3_moe"},
                                                    {"qwen3next", "qwen3_next"},
                                                    {"qwen35", "qwen3_5_text"},
                                                    {"qwen35moe", "qwen3_5_moe_text"}};
  json model = {{"model_type", types.at(family_)},
                {"hidden_size", number("embedding_length")},
                {"num_hidden_layers", num_layers()},
                {"num_attention_heads", number("attention.head_count")},
                {"num_key_value_heads", number("attention.head_count_kv")},
                {"head_dim", number("attention.key_length")},
                {"max_position_embeddings", number("context_length")},
                {"rms_norm_eps", *file_.get_float(family_ + ".attention.layer_norm_rms_epsilon")},
                {"rope_theta", *file_.get_float(family_ + ".rope.freq_base")},
                {"partial_rotary_factor",
                 double(number("rope.dimension_count")) / double(number("attention.key_length"))},
                {"vocab_size", file_.find_tensor("token_embd.weight")->shape[1]},
                {"tie_word_embeddings", file_.find_tensor("output.weight") == nullptr}};
  const uint64_t width = number("feed_forward_length");
  if (width > 0) model["intermediate_size"] = width;
  if (is_mixture()) {
    model[family_ == "llama" ? "num_local_experts" : "num_experts"] = number("expert_count");
    model["num_experts_per_tok"] = number("expert_used_count");
    const uint64_t of_expert = number("expert_feed_forward_length");
    if (of_expert > 0) model["moe_intermediate_size"] = of_expert;
    const uint64_t shared = number("expert_shared_feed_forward_length");
    if (shared > 0) model["shared_expert_intermediate_size"] = shared;
  }
  if (number("ssm.state_size") > 0) {
    model["linear_num_key_heads"] = number("ssm.group_count");
    model["linear_num_value_heads"] = number("ssm.time_step_rank");
    model["linear_key_head_dim"] = number("ssm.state_size");
    model["linear_value_head_dim"] = number("ssm.state_size");
    model["linear_conv_kernel_dim"] = number("ssm.conv_kernel");
    json kinds = json::array();
    for (uint64_t n = 0; n < num_layers(); ++n) {
      const std::string name = "blk." + std::to_string(n) + ".ssm_a";
      kinds.push_back(file_.find_tensor(name) != nullptr ? "linear_attention" : "full_attention");
    }
    model["layer_types"] = kinds;
  }
  if (!is_hybrid()) return model;
  const auto sections = *file_.get_uints(family_ + ".rope.dimension_sections");
  model["rope_parameters"] = {{"rope_type", "default"},
                              {"mrope_section", {sections[0], sections[1], sections[2]}}};
  return {{"model_type", family_ == "qwen35" ? "qwen3_5" : "qwen3_5_moe"}, {"text_config", model}};
}

}  // namespace evener::hf::test
