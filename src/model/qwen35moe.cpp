// qwen35moe: gated delta nets and gated attention in turn, a mixture with a shared expert in every
// layer. Source: reference/models/qwen35.md. Judge: golden models qwen35moe*.
#include <memory>

#include "model/decoder.h"
#include "model/families.h"
#include "model/hybrid_layer.h"

namespace evener::model {
namespace {

Result<void> read_qwen35moe_config(const gguf::File& file, Config& config) {
  RETURN_IF_ERROR(read_hybrid_config(file, config));
  config.delta_net.mapping = device::HeadMapping::tiled;
  RETURN_IF_ERROR(check_rope_sections(file, config));
  return read_mixture_config(file, config);
}

}  // namespace

extern const Family qwen35moe;
const Family qwen35moe = {
    .name = "qwen35moe",
    .read_config = read_qwen35moe_config,
    .create = [](const Config& whole, const Part& part) -> std::unique_ptr<Model> {
      return std::make_unique<Decoder<HybridLayer>>(whole, part);
    },
};

}  // namespace evener::model
