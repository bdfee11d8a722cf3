// llama, mistral and mixtral: one family in GGUF. Source: reference/models/llama.md.
#include <algorithm>

#include "hf/rules.h"

namespace evener::hf {
namespace {

constexpr std::string_view kLlamaTypes[] = {"llama", "mistral", "mixtral"};

constexpr std::array kLlamaAttention = {
    TensorRule{"self_attn.q_proj.weight", "attn_q.weight", Order::query_heads},
    TensorRule{"self_attn.k_proj.weight", "attn_k.weight", Order::key_heads},
    TensorRule{"self_attn.v_proj.weight", "attn_v.weight"},
    TensorRule{"self_attn.o_proj.weight", "attn_output.weight"},
    TensorRule{"self_attn.q_proj.bias", "attn_q.bias", Order::query_heads},
    TensorRule{"self_attn.k_proj.bias", "attn_k.bias", Order::key_heads},
    TensorRule{"self_attn.v_proj.bias", "attn_v.bias"},
    TensorRule{"self_attn.o_proj.bias", "attn_output.bias"},
};

constexpr std::array kMlpBiases = {
    TensorRule{"mlp.gate_proj.bias", "ffn_gate.bias"},
    TensorRule{"mlp.up_proj.bias", "ffn_up.bias"},
    TensorRule{"mlp.down_proj.bias", "ffn_down.bias"},
};

constexpr std::array kMixtral = {
    TensorRule{
        .theirs = "block_sparse_moe.gate.weight", .ours = "ffn_gate_inp.weight", .as_f32 = true},
    TensorRule{"block_sparse_moe.experts.*.w1.weight", "ffn_gate_exps.weight"},
    TensorRule{"block_sparse_moe.experts.*.w3.weight", "ffn_up_exps.weight"},
    TensorRule{"block_sparse_moe.experts.*.w2.weight", "ffn_down_exps.weight"},
};

constexpr TensorRules kLlamaLayers[] = {kPlainNorms, kLlamaAttention, kMlp, kMlpBiases, kMixtral};

// Its experts are as wide as intermediate_size says, which is where GGUF has it too.
Status write_llama(const json::Fields& config, const Sizes& sizes, Metadata& metadata) {
  return sizes.num_experts == 0 ? Status() : write_experts(config, sizes, metadata);
}

}  // namespace

extern const Family llama;
const Family llama = {.name = "llama",
                      .model_types = kLlamaTypes,
                      .layers = kLlamaLayers,
                      .write_metadata = write_llama};

}  // namespace evener::hf
