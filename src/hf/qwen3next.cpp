// qwen3next: value heads stay grouped, and the maps of a delta net are joined key head by key head,
// which GGUF has names for. Source: reference/models/qwen3next.md.
#include "hf/rules.h"

namespace evener::hf {
namespace {

constexpr std::string_view kQwen3NextTypes[] = {"qwen3_next"};

constexpr std::array kJoinedDeltaNet = {
    TensorRule{"linear_attn.in_proj_qkvz.weight", "ssm_in.weight"},
    TensorRule{"linear_attn.in_proj_ba.weight", "ssm_ba.weight"},
    TensorRule{.theirs = "linear_attn.conv1d.weight", .ours = "ssm_conv1d.weight", .as_f32 = true},
    TensorRule{"linear_attn.dt_bias", "ssm_dt.bias"},
    TensorRule{"linear_attn.A_log", "ssm_a", Order::as_stored, Change::minus_exp},
    TensorRule{"linear_attn.norm.weight", "ssm_norm.weight"},
    TensorRule{"linear_attn.out_proj.weight", "ssm_out.weight"},
};

constexpr TensorRules kQwen3NextLayers[] = {kHybridNorms, kAttention, kJoinedDeltaNet, kExperts,
                                            kSharedExpert};

Status write_qwen3next(const json::Fields& config, const Sizes& sizes, Metadata& metadata) {
  RETURN_IF_ERROR(write_delta_net(config, sizes, metadata));
  return write_experts(config, sizes, metadata);
}

}  // namespace

extern const Family qwen3next;
const Family qwen3next = {.name = "qwen3next",
                          .model_types = kQwen3NextTypes,
                          .layers = kQwen3NextLayers,
                          .norm_change = Change::add_one,
                          .write_metadata = write_qwen3next};

}  // namespace evener::hf
