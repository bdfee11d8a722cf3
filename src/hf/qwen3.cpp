// qwen3, dense. Source: reference/models/qwen3.md.
#include "hf/rules.h"

namespace evener::hf {
namespace {

constexpr std::string_view kQwen3Types[] = {"qwen3"};
constexpr TensorRules kQwen3Layers[] = {kPlainNorms, kAttention, kHeadNorms, kMlp};

}  // namespace

extern const Family qwen3;
const Family qwen3 = {
    .name = "qwen3",
    .model_types = kQwen3Types,
    .layers = kQwen3Layers,
    .write_metadata = [](const json::Fields&, const Sizes&, Metadata&) -> Status { return {}; },
};

}  // namespace evener::hf
