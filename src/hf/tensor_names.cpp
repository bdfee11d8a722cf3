#include "hf/tensor_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gguf/layer_name.h"

namespace evener::hf {
namespace {

constexpr TensorRule kEmbedding = {"embed_tokens.weight", "token_embd.weight"};
constexpr TensorRule kHead = {"lm_head.weight", "output.weight"};
constexpr TensorRule kMtpJoin = {"fc.weight", "nextn.eh_proj.weight"};

}  // namespace

TensorNames::TensorNames(const Family& family, const Sizes& sizes, std::string root)
    : family_(family),
      sizes_(sizes),
      root_(std::move(root)),
      final_norm_{"norm.weight", "output_norm.weight", Order::as_stored, family.norm_change},
      mtp_norms_{
          {"pre_fc_norm_embedding.weight", "nextn.enorm.weight", Order::as_stored,
           family.norm_change},
          {"pre_fc_norm_hidden.weight", "nextn.hnorm.weight", Order::as_stored, family.norm_change},
          {"norm.weight", "nextn.shared_head_norm.weight", Order::as_stored, family.norm_change}} {}

std::string TensorNames::layer_prefix(uint64_t layer) const {
  if (layer < sizes_.num_layers) return fmt::format("{}layers.{}.", root_, layer);
  return fmt::format("mtp.layers.{}.", layer - sizes_.num_layers);
}

void TensorNames::add_layer(uint64_t layer, std::vector<NamedRule>& rules) const {
  const std::string theirs = layer_prefix(layer);
  const std::string ours = fmt::format("blk.{}.", layer);
  for (const TensorRules& group : family_.layers) {
    for (const TensorRule& rule : group) {
      rules.push_back(
          {fmt::format("{}{}", theirs, rule.theirs), fmt::format("{}{}", ours, rule.ours), &rule});
    }
  }
}

std::vector<NamedRule> TensorNames::all() const {
  std::vector<NamedRule> rules;
  for (const TensorRule* rule : {&kEmbedding, &final_norm_}) {
    rules.push_back({fmt::format("{}{}", root_, rule->theirs), std::string(rule->ours), rule});
  }
  rules.push_back({std::string(kHead.theirs), std::string(kHead.ours), &kHead});
  const uint64_t num_blocks = sizes_.num_layers + sizes_.num_mtp_layers;
  for (uint64_t layer = 0; layer < num_blocks; ++layer) add_layer(layer, rules);
  if (sizes_.num_mtp_layers == 0) return rules;
  const auto add_mtp = [&](const TensorRule& rule) {
    rules.push_back({fmt::format("mtp.{}", rule.theirs),
                     fmt::format("blk.{}.{}", sizes_.num_layers, rule.ours), &rule});
  };
  add_mtp(kMtpJoin);
  for (const TensorRule& rule : mtp_norms_) add_mtp(rule);
  return rules;
}

std::optional<std::string> TensorNames::theirs_of(std::string_view ours) const {
  std::vector<NamedRule> rules;
  const auto place = gguf::split_layer_name(ours);
  if (place && place->layer < sizes_.num_layers) {
    add_layer(place->layer, rules);
  } else {
    rules = all();
  }
  const auto at = std::ranges::find(rules, ours, &NamedRule::ours);
  return at == rules.end() ? std::nullopt : std::optional(at->theirs);
}

}  // namespace evener::hf
