#include "quantise/recipe.h"

#include <strings.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "gguf/summary.h"
#include "quantise/tensor_role.h"

namespace evener::quantise {
namespace {

// The first and the last eighth of the layers, and every third between them.
bool is_telling(const TensorPlace& place, const ModelShape& shape) {
  if (!place.layer) return false;
  const size_t layer = *place.layer;
  const size_t eighth = shape.num_layers / 8;
  return layer < eighth || layer >= shape.num_layers - eighth || (layer - eighth) % 3 == 2;
}

bool is_early(const TensorPlace& place, const ModelShape& shape) {
  return place.layer && *place.layer < shape.num_layers / 8;
}

// The part of a mixture that every token passes through.
bool is_common(Role role, const ModelShape& shape) {
  if (!shape.is_mixture) return false;
  return role == Role::values || role == Role::keys || role == Role::attention ||
         role == Role::shared_expert;
}

bool is_head(Role role, const ModelShape& shape) {
  return role == Role::head || (role == Role::embedding && !shape.has_output);
}

// One type for all matrices, with a head of its own.
template <DType type, DType head>
DType choose_one(std::string_view tensor, const ModelShape& shape) {
  const TensorPlace place = place_of(tensor);
  if (place.role == Role::gates && info(type).block_size > 1) return DType::Q8_0;
  return is_head(place.role, shape) ? head : type;
}

// Q4_K_M, Q5_K_M: `joint` is for maps that hold the one of values among others.
template <DType type, DType joint>
DType choose_k_medium(std::string_view tensor, const ModelShape& shape) {
  const TensorPlace place = place_of(tensor);
  if (place.role == Role::gates) return DType::Q8_0;
  if (is_head(place.role, shape) || is_common(place.role, shape)) return DType::Q6_K;
  if (place.role == Role::values && tensor.ends_with("attn_v.weight")) {
    return is_telling(place, shape) ? DType::Q6_K : type;
  }
  if (place.role == Role::values) return joint;
  const bool is_back = place.role == Role::back || place.role == Role::experts_back;
  return is_back && is_telling(place, shape) ? DType::Q6_K : type;
}

// IQ4_NL, IQ4_XS
template <DType type>
DType choose_iq4(std::string_view tensor, const ModelShape& shape) {
  const TensorPlace place = place_of(tensor);
  if (place.role == Role::gates) return DType::Q8_0;
  if (is_head(place.role, shape) || is_common(place.role, shape)) return DType::Q6_K;
  if (place.role == Role::values) return shape.heads_per_kv >= 4 ? DType::Q5_K : type;
  const bool is_back = place.role == Role::back || place.role == Role::experts_back;
  return is_back && !shape.is_weighted && is_early(place, shape) ? DType::Q5_K : type;
}

// IQ3_S, IQ3_XXS: 3 bits hurt, so the small matrices get four or more.
template <DType type>
DType choose_iq3(std::string_view tensor, const ModelShape& shape) {
  const TensorPlace place = place_of(tensor);
  switch (place.role) {
    case Role::gates:
      return DType::Q8_0;
    case Role::head:
      return DType::Q6_K;
    case Role::embedding:
      return shape.has_output ? DType::IQ3_S : DType::Q6_K;
    case Role::values:
      if (is_common(place.role, shape)) return DType::Q6_K;
      return shape.heads_per_kv >= 4 ? DType::Q4_K : DType::IQ3_S;
    case Role::keys:
    case Role::attention:
    case Role::shared_expert:
      if (is_common(place.role, shape)) return DType::Q5_K;
      return tensor.ends_with("_output.weight") || tensor.ends_with("ssm_out.weight") ? DType::IQ3_S
                                                                                      : type;
    case Role::back:
    case Role::experts_back:
      return !shape.is_weighted && is_early(place, shape) ? DType::Q4_K : type;
    default:
      return type;
  }
}

// The feed-forward layers, which are most of any model; the rest is small beside them.
DType choose_mxfp4(std::string_view tensor, const ModelShape& /*shape*/) {
  switch (place_of(tensor).role) {
    case Role::feed_forward:
    case Role::back:
    case Role::experts:
    case Role::experts_back:
      return DType::MXFP4;
    default:
      return DType::Q8_0;
  }
}

using enum DType;

constexpr Recipe kRecipes[] = {
    {"F16", 1, choose_one<F16, F16>},
    {"BF16", 32, choose_one<BF16, BF16>},
    {"Q8_0", 7, choose_one<Q8_0, Q8_0>},
    {"Q6_K", 18, choose_one<Q6_K, Q6_K>},
    {"Q5_K_M", 17, choose_k_medium<Q5_K, Q6_K>},
    {"Q4_K_M", 15, choose_k_medium<Q4_K, Q5_K>},
    {"Q4_0", 2, choose_one<Q4_0, Q6_K>},
    {"IQ4_NL", 25, choose_iq4<IQ4_NL>},
    {"IQ4_XS", 30, choose_iq4<IQ4_XS>},
    {"MXFP4", 38, choose_mxfp4},
    {"IQ3_S", 26, choose_iq3<IQ3_S>},
    {"IQ3_XXS", 23, choose_iq3<IQ3_XXS>},
};

// For rows that are no whole number of blocks of 256: about as good, with blocks of 32.
DType with_small_blocks(DType type) {
  switch (type) {
    case Q4_K:
      return Q5_0;
    case Q5_K:
    case Q6_K:
      return Q8_0;
    default:
      return IQ4_NL;
  }
}

// Matrices that stay as they are whatever the recipe.
bool is_delicate(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {
      "ffn_gate_inp.weight",  // which experts a token goes to
      "ffn_gate_inp_shexp.weight",
      "ssm_conv1d.weight",  // taps
      "position_embd.weight",      "token_types.weight",
  };
  return std::ranges::any_of(kNames, [&](std::string_view end) { return name.ends_with(end); });
}

bool has_whole_blocks(const gguf::Tensor& tensor, DType type) {
  return tensor.shape[0] % info(type).block_size == 0;
}

}  // namespace

ModelShape shape_of(const gguf::File& file) {
  const gguf::Summary summary = gguf::summarise(file);
  ModelShape shape;
  shape.num_layers = summary.num_layers.value_or(0);
  const uint64_t kv_heads = summary.num_kv_heads ? summary.num_kv_heads->max : 0;
  if (summary.num_heads && kv_heads > 0) shape.heads_per_kv = summary.num_heads->max / kv_heads;
  shape.is_mixture = summary.num_experts.value_or(0) > 1;
  shape.has_output = file.find_tensor("output.weight") != nullptr;
  return shape;
}

std::span<const Recipe> recipes() { return kRecipes; }

const Recipe* find_recipe(std::string_view name) {
  const auto* const found = std::ranges::find_if(kRecipes, [&](const Recipe& recipe) {
    return recipe.name.size() == name.size() &&
           strncasecmp(recipe.name.data(), name.data(), name.size()) == 0;
  });
  return found == std::end(kRecipes) ? nullptr : found;
}

std::optional<DType> choose_type(const Recipe& recipe, const gguf::Tensor& tensor,
                                 const ModelShape& shape) {
  const bool is_matrix = tensor.shape.size() >= 2 && tensor.shape[1] > 1;
  if (!is_matrix || !tensor.name.ends_with(".weight") || is_delicate(tensor.name)) return {};
  DType type = recipe.choose(tensor.name, shape);
  if (!has_whole_blocks(tensor, type)) type = with_small_blocks(type);
  return has_whole_blocks(tensor, type) ? type : F16;
}

}  // namespace evener::quantise
