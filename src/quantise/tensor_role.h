#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace evener::quantise {

// What a matrix does in a model, as far as its name tells.
enum class Role {
  embedding,     // token_embd
  head,          // output
  values,        // attn_v, and joint maps that hold it
  keys,          // attn_k
  attention,     // the other maps of attention, and those of a gated delta net
  gates,         // ssm_alpha, ssm_beta: few rows that steer a whole delta net
  feed_forward,  // ffn_gate, ffn_up
  back,          // ffn_down
  experts,       // the same of a mixture's experts
  experts_back,
  shared_expert,  // of a mixture
  other,
};

struct TensorPlace {
  Role role = Role::other;
  std::optional<size_t> layer;  // N of blk.N.
};

TensorPlace place_of(std::string_view name);

}  // namespace evener::quantise
