// qwen3 with a mixture of experts in every layer. Source: reference/models/qwen3moe.md.
#include "hf/rules.h"

namespace evener::hf {
namespace {

constexpr std::string_view kQwen3MoeTypes[] = {"qwen3_moe"};
constexpr TensorRules kQwen3MoeLayers[] = {kPlainNorms, kAttention, kHeadNorms, kExperts};

}  // namespace

extern const Family qwen3moe;
const Family qwen3moe = {.name = "qwen3moe",
                         .model_types = kQwen3MoeTypes,
                         .layers = kQwen3MoeLayers,
                         .write_metadata = write_experts};

}  // namespace evener::hf
