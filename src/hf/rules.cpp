#include "hf/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace evener::hf {
namespace {

Error unsupported_field(const json::Fields& fields, std::string_view name, std::string why) {
  Error error = fields.error(name, std::move(why));
  error.code = Code::unsupported;
  return error;
}

// Routers of these families divide the chosen probabilities by their sum, whatever a file says.
Status check_routing(const json::Fields& config) {
  ASSIGN_OR_RETURN(const bool is_normalised, config.get_bool_or("norm_topk_prob", true));
  if (!is_normalised) return unsupported_field(config, "norm_topk_prob", "is false");
  ASSIGN_OR_RETURN(const uint64_t step, config.get_uint_or("decoder_sparse_step", 1));
  if (step != 1) {
    return unsupported_field(config, "decoder_sparse_step",
                             fmt::format("is {}, only 1 is supported", step));
  }
  if (!config.has("mlp_only_layers")) return {};
  ASSIGN_OR_RETURN(const auto dense, config.get_uints("mlp_only_layers"));
  if (dense.empty()) return {};
  return unsupported_field(config, "mlp_only_layers", "names layers without experts");
}

// One flag a layer: a list of kinds, or every n-th is attention.
Result<std::vector<bool>> recurrent_layers(const json::Fields& config, const Sizes& sizes) {
  std::vector<bool> recurrent(sizes.num_layers);
  if (!config.has("layer_types")) {
    ASSIGN_OR_RETURN(const uint64_t interval, config.get_uint_or("full_attention_interval", 4));
    if (interval == 0) return config.error("full_attention_interval", "is 0");
    for (size_t n = 0; n < recurrent.size(); ++n) recurrent[n] = (n + 1) % interval != 0;
    return recurrent;
  }
  ASSIGN_OR_RETURN(const auto kinds, config.get_strings("layer_types"));
  if (kinds.size() != sizes.num_layers) {
    return config.error("layer_types", fmt::format("has {} entries, the model has {} layers",
                                                   kinds.size(), sizes.num_layers));
  }
  for (size_t n = 0; n < kinds.size(); ++n) {
    recurrent[n] = kinds[n] == "linear_attention";
    if (recurrent[n] || kinds[n] == "full_attention") continue;
    return unsupported_field(config, "layer_types",
                             fmt::format("layer {} is '{}'", n, printable(kinds[n], 40)));
  }
  return recurrent;
}

// Whether each `interval`-th layer is attention, and no other.
bool is_every(const std::vector<bool>& recurrent, uint64_t interval) {
  for (size_t n = 0; n < recurrent.size(); ++n) {
    if (recurrent[n] != ((n + 1) % interval != 0)) return false;
  }
  return true;
}

}  // namespace

Status write_experts(const json::Fields& config, const Sizes& sizes, Metadata& metadata) {
  RETURN_IF_ERROR(check_routing(config));
  if (sizes.num_experts == 0) return config.error("num_experts", "is missing or 0");
  metadata.set("expert_count", sizes.num_experts);
  ASSIGN_OR_RETURN(const uint64_t used, config.get_uint("num_experts_per_tok", kExpertsMax));
  metadata.set("expert_used_count", used);
  if (config.has("moe_intermediate_size")) {
    ASSIGN_OR_RETURN(const uint64_t width, config.get_uint("moe_intermediate_size", kSizeMax));
    metadata.set("expert_feed_forward_length", width);
  }
  if (!config.has("shared_expert_intermediate_size")) return {};
  ASSIGN_OR_RETURN(const uint64_t shared,
                   config.get_uint("shared_expert_intermediate_size", kSizeMax));
  metadata.set("expert_shared_feed_forward_length", shared);
  return {};
}

Status write_delta_net(const json::Fields& config, const Sizes& sizes, Metadata& metadata) {
  if (sizes.num_value_heads == 0) return config.error("linear_num_value_heads", "is missing");
  ASSIGN_OR_RETURN(const bool has_gate, config.get_bool_or("attn_output_gate", true));
  if (!has_gate) return unsupported_field(config, "attn_output_gate", "is false");
  ASSIGN_OR_RETURN(const uint64_t taps, config.get_uint("linear_conv_kernel_dim", kSizeMax));
  metadata.set("ssm.conv_kernel", taps);
  metadata.set("ssm.state_size", sizes.state_size);
  metadata.set("ssm.group_count", sizes.num_key_heads);
  metadata.set("ssm.time_step_rank", sizes.num_value_heads);
  metadata.set("ssm.inner_size", sizes.num_value_heads * sizes.state_size);

  ASSIGN_OR_RETURN(std::vector<bool> recurrent, recurrent_layers(config, sizes));
  const auto first_attention = std::ranges::find(recurrent, false);
  const auto interval = static_cast<uint64_t>(first_attention - recurrent.begin()) + 1;
  if (is_every(recurrent, interval)) {
    metadata.set("full_attention_interval", interval);
    return {};
  }
  recurrent.resize(sizes.num_layers + sizes.num_mtp_layers, false);
  metadata.set_flags("attention.recurrent_layers", recurrent);
  return {};
}

}  // namespace evener::hf
