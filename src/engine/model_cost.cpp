#include "engine/model_cost.h"

#include <optional>
#include <string_view>

#include "engine/load.h"
#include "gguf/layer_name.h"
#include "model/loader.h"
#include "model/rank_memory.h"

namespace evener::engine {
namespace {

using parallel::PartCost;

// Of the experts of a stacked tensor a token uses few.
double used_share(const model::Config& config, const gguf::Tensor& tensor) {
  const bool is_stacked = tensor.shape.size() == 3 && config.mixture.num_experts > 0;
  if (!is_stacked || tensor.shape[2] != config.mixture.num_experts) return 1;
  return double(config.mixture.num_experts_per_token) / double(config.mixture.num_experts);
}

PartCost cost_of(const model::Config& config, const gguf::Tensor& tensor) {
  const double share = used_share(config, tensor);
  const bool is_matrix = tensor.shape.size() > 1;
  return {.weight_bytes = tensor.size_bytes(),
          .cache_bytes = 0,
          .bytes_per_token = share * double(tensor.size_bytes()),
          .operations_per_token = is_matrix ? 2 * share * double(tensor.num_elements()) : 0};
}

// Of prompts only the last token needs the head.
PartCost head_cost(const model::Config& config, const gguf::Tensor& tensor) {
  PartCost cost = cost_of(config, tensor);
  cost.operations_per_token = 0;
  return cost;
}

// Keys and values, or the state, of one sequence in one layer.
size_t cache_bytes(const model::Config& config, size_t layer, const ModelCostOptions& options) {
  const size_t num_pages = (options.num_tokens + kPageSize - 1) / kPageSize;
  const model::MemoryPlan plan = {.num_rows = options.num_rows,
                                  .num_logit_rows = options.num_logit_rows,
                                  .num_pages = num_pages,
                                  .page_size = kPageSize,
                                  .num_slots = 1,
                                  .kv_type = options.kv_type};
  if (layer < config.recurrent.size() && config.recurrent[layer]) {
    device::StateCacheShape shape = model::state_cache_shape(config, plan);
    shape.num_layers = 1;
    return shape.bytes_per_slot();
  }
  device::KvCacheShape shape = model::kv_cache_shape(config, plan);
  shape.num_layers = 1;
  return num_pages * shape.bytes_per_page();
}

}  // namespace

Result<parallel::ModelCost> model_cost(const gguf::File& file, const ModelCostOptions& options) {
  ASSIGN_OR_RETURN(const auto model, model::describe_model(file));
  const model::Config& config = model->config();
  parallel::ModelCost cost;
  cost.name = file.name();
  cost.layers.resize(config.num_layers);
  const bool has_head = file.find_tensor("output.weight") != nullptr;
  for (const gguf::Tensor& tensor : file.tensors()) {
    if (const auto name = gguf::split_layer_name(tensor.name)) {
      if (name->layer < config.num_layers) cost.layers[name->layer] += cost_of(config, tensor);
      continue;
    }
    const bool is_head = tensor.name == (has_head ? "output.weight" : "token_embd.weight");
    if (is_head || tensor.name == "output_norm.weight") cost.last += head_cost(config, tensor);
  }
  for (size_t layer = 0; layer < config.num_layers; ++layer) {
    cost.layers[layer].cache_bytes = cache_bytes(config, layer, options);
  }
  const model::MemoryPlan pass = {
      .num_rows = options.num_rows, .num_logit_rows = options.num_logit_rows, .num_slots = 1};
  const size_t floats = model->scratch_floats(options.num_rows, options.num_logit_rows) +
                        options.num_logit_rows * config.vocab_size;
  cost.scratch_bytes = floats * sizeof(float) + model::routing_shape(config, pass).bytes();
  return cost;
}

}  // namespace evener::engine
