// qwen3.5 and its like, dense. Source: reference/models/qwen35.md.
#include "hf/rope.h"
#include "hf/rules.h"

namespace evener::hf {
namespace {

constexpr std::string_view kQwen35Types[] = {"qwen3_5", "qwen3_5_text"};
constexpr TensorRules kQwen35Layers[] = {kHybridNorms, kAttention, kDeltaNet, kMlp};

Status write_qwen35(const json::Fields& config, const Sizes& sizes, Metadata& metadata) {
  RETURN_IF_ERROR(write_delta_net(config, sizes, metadata));
  return write_rope_sections(config, metadata);
}

}  // namespace

extern const Family qwen35;
const Family qwen35 = {.name = "qwen35",
                       .model_types = kQwen35Types,
                       .layers = kQwen35Layers,
                       .norm_change = Change::add_one,
                       .write_metadata = write_qwen35};

}  // namespace evener::hf
