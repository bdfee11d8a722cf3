// qwen35: gated delta nets and gated attention in turn, a dense MLP in every layer.
// Source: reference/models/qwen35.md. Judge: golden models qwen35*, the bundled model.
#include <memory>

#include "model/decoder.h"
#include "model/families.h"
#include "model/hybrid_layer.h"

namespace evener::model {
namespace {

Result<void> read_qwen35_config(const gguf::File& file, Config& config) {
  RETURN_IF_ERROR(read_hybrid_config(file, config));
  config.delta_net.mapping = device::HeadMapping::tiled;
  return check_rope_sections(file, config);
}

}  // namespace

extern const Family qwen35;
const Family qwen35 = {
    .name = "qwen35",
    .read_config = read_qwen35_config,
    .create = [](const Config& whole, const Part& part) -> std::unique_ptr<Model> {
      return std::make_unique<Decoder<HybridLayer>>(whole, part);
    },
};

}  // namespace evener::model
