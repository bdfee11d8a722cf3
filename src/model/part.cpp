#include "model/part.h"

namespace evener::model {
namespace {

Range all_of(size_t count) { return {.begin = 0, .count = count}; }

}  // namespace

Part whole_part(const Config& config) {
  return {.shard = 0,
          .num_shards = 1,
          .layers = all_of(config.num_layers),
          .has_first_layer = true,
          .has_last_layer = true,
          .vocabulary = all_of(config.vocab_size),
          .heads = all_of(config.num_heads),
          .kv_heads = all_of(config.num_kv_heads),
          .intermediate = all_of(config.intermediate_size),
          .key_heads = all_of(config.delta_net.num_key_heads),
          .value_heads = {all_of(config.delta_net.num_value_heads)},
          .experts = all_of(config.mixture.num_experts),
          .expert_intermediate = all_of(config.mixture.intermediate_size),
          .shared_intermediate = all_of(config.mixture.shared_size)};
}

Config config_of(const Config& whole, const Part& part) {
  Config config = whole;
  config.num_layers = part.layers.count;
  const auto first = whole.recurrent.begin() + static_cast<std::ptrdiff_t>(part.layers.begin);
  config.recurrent.assign(first, first + static_cast<std::ptrdiff_t>(part.layers.count));
  config.intermediate_size = part.intermediate.count;
  config.num_heads = part.heads.count;
  config.num_kv_heads = part.kv_heads.count;
  config.delta_net.num_key_heads = part.key_heads.count;
  config.delta_net.num_value_heads = count_of(part.value_heads);
  config.mixture.first_expert = part.experts.begin;
  config.mixture.intermediate_size = part.expert_intermediate.count;
  config.mixture.shared_size = part.shared_intermediate.count;
  return config;
}

}  // namespace evener::model
