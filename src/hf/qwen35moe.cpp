// qwen3.5 with a mixture and a shared expert in every layer. Source: reference/models/qwen35.md.
#include "hf/rope.h"
#include "hf/rules.h"

namespace evener::hf {
namespace {

constexpr std::string_view kQwen35MoeTypes[] = {"qwen3_5_moe", "qwen3_5_moe_text"};
constexpr TensorRules kQwen35MoeLayers[] = {kHybridNorms, kAttention, kDeltaNet, kExperts,
                                            kSharedExpert};

Status write_qwen35moe(const json::Fields& config, const Sizes& sizes, Metadata& metadata) {
  RETURN_IF_ERROR(write_delta_net(config, sizes, metadata));
  RETURN_IF_ERROR(write_experts(config, sizes, metadata));
  return write_rope_sections(config, metadata);
}

}  // namespace

extern const Family qwen35moe;
const Family qwen35moe = {.name = "qwen35moe",
                          .model_types = kQwen35MoeTypes,
                          .layers = kQwen35MoeLayers,
                          .norm_change = Change::add_one,
                          .write_metadata = write_qwen35moe};

}  // namespace evener::hf
