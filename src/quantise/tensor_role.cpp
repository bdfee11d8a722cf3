#include "quantise/tensor_role.h"

#include <algorithm>
#include <iterator>

#include "gguf/layer_name.h"

namespace evener::quantise {
namespace {

struct NamedRole {
  std::string_view name;  // behind "blk.N.", without ".weight"
  Role role;
};

constexpr NamedRole kRoles[] = {
    {"token_embd", Role::embedding},
    {"output", Role::head},
    {"attn_v", Role::values},
    {"attn_qkv", Role::values},
    {"attn_k", Role::keys},
    {"attn_q", Role::attention},
    {"attn_output", Role::attention},
    {"attn_gate", Role::attention},
    {"ssm_in", Role::values},
    {"ssm_out", Role::attention},
    {"ssm_alpha", Role::gates},
    {"ssm_beta", Role::gates},
    {"ssm_ba", Role::gates},
    {"ffn_gate", Role::feed_forward},
    {"ffn_up", Role::feed_forward},
    {"ffn_down", Role::back},
    {"ffn_gate_exps", Role::experts},
    {"ffn_up_exps", Role::experts},
    {"ffn_gate_up_exps", Role::experts},
    {"ffn_down_exps", Role::experts_back},
    {"ffn_gate_shexp", Role::shared_expert},
    {"ffn_up_shexp", Role::shared_expert},
    {"ffn_down_shexp", Role::shared_expert},
};

}  // namespace

TensorPlace place_of(std::string_view name) {
  TensorPlace place;
  if (const auto layer_name = gguf::split_layer_name(name)) {
    place.layer = layer_name->layer;
    name = layer_name->name;
  }
  constexpr std::string_view kWeight = ".weight";
  if (!name.ends_with(kWeight)) return place;
  name.remove_suffix(kWeight.size());
  const auto* const known = std::ranges::find(kRoles, name, &NamedRole::name);
  if (known != std::end(kRoles)) place.role = known->role;
  return place;
}

}  // namespace evener::quantise
