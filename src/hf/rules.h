#pragma once

#include <array>

#include "hf/family.h"

namespace evener::hf {

// Tensors that several families have.

inline constexpr std::array kPlainNorms = {
    TensorRule{"input_layernorm.weight", "attn_norm.weight"},
    TensorRule{"post_attention_layernorm.weight", "ffn_norm.weight"},
};

inline constexpr std::array kAttention = {
    TensorRule{"self_attn.q_proj.weight", "attn_q.weight"},
    TensorRule{"self_attn.k_proj.weight", "attn_k.weight"},
    TensorRule{"self_attn.v_proj.weight", "attn_v.weight"},
    TensorRule{"self_attn.o_proj.weight", "attn_output.weight"},
};

inline constexpr std::array kHeadNorms = {
    TensorRule{"self_attn.q_norm.weight", "attn_q_norm.weight"},
    TensorRule{"self_attn.k_norm.weight", "attn_k_norm.weight"},
};

inline constexpr std::array kMlp = {
    TensorRule{"mlp.gate_proj.weight", "ffn_gate.weight"},
    TensorRule{"mlp.up_proj.weight", "ffn_up.weight"},
    TensorRule{"mlp.down_proj.weight", "ffn_down.weight"},
};

// Experts lie one by one or in stacks of all, then with gate and up in one.
inline constexpr std::array kExperts = {
    TensorRule{.theirs = "mlp.gate.weight", .ours = "ffn_gate_inp.weight", .as_f32 = true},
    TensorRule{"mlp.experts.*.gate_proj.weight", "ffn_gate_exps.weight"},
    TensorRule{"mlp.experts.*.up_proj.weight", "ffn_up_exps.weight"},
    TensorRule{"mlp.experts.*.down_proj.weight", "ffn_down_exps.weight"},
    TensorRule{"mlp.experts.gate_up_proj", "ffn_gate_up_exps.weight"},
    TensorRule{"mlp.experts.down_proj", "ffn_down_exps.weight"},
};

inline constexpr std::array kSharedExpert = {
    TensorRule{.theirs = "mlp.shared_expert_gate.weight",
               .ours = "ffn_gate_inp_shexp.weight",
               .as_f32 = true},
    TensorRule{"mlp.shared_expert.gate_proj.weight", "ffn_gate_shexp.weight"},
    TensorRule{"mlp.shared_expert.up_proj.weight", "ffn_up_shexp.weight"},
    TensorRule{"mlp.shared_expert.down_proj.weight", "ffn_down_shexp.weight"},
};

// Layers with delta nets: all norms but the delta net's own are kept as w - 1.
inline constexpr std::array kHybridNorms = {
    TensorRule{"input_layernorm.weight", "attn_norm.weight", Order::as_stored, Change::add_one},
    TensorRule{"post_attention_layernorm.weight", "post_attention_norm.weight", Order::as_stored,
               Change::add_one},
    TensorRule{"self_attn.q_norm.weight", "attn_q_norm.weight", Order::as_stored, Change::add_one},
    TensorRule{"self_attn.k_norm.weight", "attn_k_norm.weight", Order::as_stored, Change::add_one},
};

// qwen3.5's delta nets, whose value heads GGUF deals out.
inline constexpr std::array kDeltaNet = {
    TensorRule{"linear_attn.in_proj_qkv.weight", "attn_qkv.weight", Order::values_behind_keys},
    TensorRule{"linear_attn.in_proj_z.weight", "attn_gate.weight", Order::value_heads},
    TensorRule{"linear_attn.in_proj_b.weight", "ssm_beta.weight", Order::value_heads},
    TensorRule{"linear_attn.in_proj_a.weight", "ssm_alpha.weight", Order::value_heads},
    TensorRule{"linear_attn.conv1d.weight", "ssm_conv1d.weight", Order::values_behind_keys,
               Change::none, true},
    TensorRule{"linear_attn.dt_bias", "ssm_dt.bias", Order::value_heads},
    TensorRule{"linear_attn.A_log", "ssm_a", Order::value_heads, Change::minus_exp},
    TensorRule{"linear_attn.norm.weight", "ssm_norm.weight"},
    TensorRule{"linear_attn.out_proj.weight", "ssm_out.weight", Order::columns_by_value_heads},
};

// Keys that several families have. Errors: corrupt, unsupported, naming the field.

// expert_*: how many, how wide, how many a token. `config` may not mix layers with and without.
Status write_experts(const json::Fields& config, const Sizes& sizes, Metadata& metadata);

// Which layers are delta nets, and their sizes.
Status write_delta_net(const json::Fields& config, const Sizes& sizes, Metadata& metadata);

}  // namespace evener::hf
