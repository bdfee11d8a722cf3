#include "hf/sizes.h"

#include <fmt/format.h>

namespace evener::hf {
namespace {

Result<uint64_t> size_of(const json::Fields& config, std::string_view name, uint64_t max) {
  ASSIGN_OR_RETURN(const uint64_t size, config.get_uint(name, max));
  if (size == 0) return config.error(name, "is 0");
  return size;
}

Status read_delta_net(const json::Fields& config, Sizes& sizes) {
  if (!config.has("linear_num_value_heads")) return {};
  ASSIGN_OR_RETURN(sizes.num_key_heads, size_of(config, "linear_num_key_heads", kSizeMax));
  ASSIGN_OR_RETURN(sizes.num_value_heads, size_of(config, "linear_num_value_heads", kSizeMax));
  ASSIGN_OR_RETURN(sizes.state_size, size_of(config, "linear_key_head_dim", kSizeMax));
  ASSIGN_OR_RETURN(const uint64_t value_dim, size_of(config, "linear_value_head_dim", kSizeMax));
  if (value_dim != sizes.state_size) {
    return config.error("linear_value_head_dim",
                        fmt::format("is {}, keys are {} wide: only equal ones are supported",
                                    value_dim, sizes.state_size));
  }
  if (sizes.num_value_heads % sizes.num_key_heads != 0) {
    return config.error("linear_num_value_heads",
                        fmt::format("{} value heads do not share {} key heads evenly",
                                    sizes.num_value_heads, sizes.num_key_heads));
  }
  return {};
}

}  // namespace

Result<Sizes> read_sizes(const json::Fields& config) {
  Sizes sizes;
  ASSIGN_OR_RETURN(sizes.num_layers, size_of(config, "num_hidden_layers", kLayersMax));
  ASSIGN_OR_RETURN(sizes.hidden_size, size_of(config, "hidden_size", kSizeMax));
  ASSIGN_OR_RETURN(sizes.num_heads, size_of(config, "num_attention_heads", kSizeMax));
  ASSIGN_OR_RETURN(sizes.num_kv_heads,
                   config.get_uint_or("num_key_value_heads", sizes.num_heads, kSizeMax));
  if (sizes.num_kv_heads == 0 || sizes.num_heads % sizes.num_kv_heads != 0) {
    return config.error("num_key_value_heads", fmt::format("{} query heads do not share {} evenly",
                                                           sizes.num_heads, sizes.num_kv_heads));
  }
  ASSIGN_OR_RETURN(sizes.head_dim,
                   config.get_uint_or("head_dim", sizes.hidden_size / sizes.num_heads, kSizeMax));
  if (sizes.head_dim == 0) return config.error("head_dim", "is 0");
  ASSIGN_OR_RETURN(sizes.vocab_size, size_of(config, "vocab_size", 16 * kSizeMax));
  const std::string_view experts =
      config.has("num_local_experts") ? "num_local_experts" : "num_experts";
  ASSIGN_OR_RETURN(sizes.num_experts, config.get_uint_or(experts, 0, kExpertsMax));
  RETURN_IF_ERROR(read_delta_net(config, sizes));
  return sizes;
}

}  // namespace evener::hf
