#include "engine/load_memory.h"

#include <algorithm>
#include <utility>

namespace evener::engine {
namespace {

constexpr size_t kMaxContext = INT32_MAX;  // positions are 32 bits wide

}  // namespace

size_t sum_of_weights(const gguf::File& file, const Descriptions& descriptions) {
  size_t bytes = 0;
  for (const auto& model : descriptions) bytes += model::weight_bytes(file, *model);
  return bytes;
}

model::MemoryPlan memory_plan(const EngineOptions& options, const Capacity& capacity,
                              device::KvType kv_type) {
  return {.num_rows = options.prefill_chunk + capacity.max_sequences,
          .num_logit_rows = kPromptLogitRows + capacity.max_sequences,
          .num_pages = capacity.num_pages,
          .page_size = kPageSize,
          .num_slots = capacity.num_slots,
          .kv_type = kv_type};
}

Result<Descriptions> describe(const gguf::File& file, const RankPlan& plan) {
  ASSIGN_OR_RETURN(const auto parts, model::cut_model(file, plan.layout));
  Descriptions descriptions;
  for (const model::Part& part : parts) {
    ASSIGN_OR_RETURN(auto description, model::describe_model(file, part));
    descriptions.push_back(std::move(description));
  }
  return descriptions;
}

RankNeed need_of(const gguf::File& file, model::Model& model, const model::MemoryPlan& memory,
                 Weights weights) {
  const model::Config& config = model.config();
  const model::Part& part = model.part();
  const bool has_logits = part.has_last_layer && part.shard == 0;
  const size_t scratch_floats = model.scratch_floats(memory.num_rows, memory.num_logit_rows);
  const size_t host_logits = has_logits ? memory.num_logit_rows * model.whole().vocab_size : 0;
  RankNeed need;
  need.scratch_bytes =
      (scratch_floats + host_logits) * sizeof(float) + model::routing_shape(config, memory).bytes();
  need.bytes_per_page = model::kv_cache_shape(config, memory).bytes_per_page();
  if (config.num_recurrent_layers() > 0) {
    need.bytes_per_slot = model::state_cache_shape(config, memory).bytes_per_slot();
  }
  if (weights == Weights::loaded) return need;
  need.weight_bytes = model::weight_bytes(file, model);
  // What loading takes is given back before scratch is allocated.
  need.scratch_bytes = std::max(need.scratch_bytes, model::loading_bytes(file, model));
  return need;
}

Result<Capacity> plan_memory(const EngineOptions& options, const gguf::File& file,
                             const Descriptions& descriptions, device::KvType kv_type,
                             Weights weights, std::span<const MemoryPool> pools) {
  const size_t trained_context = descriptions.front()->whole().context_length;
  const size_t model_context = std::min(std::max<size_t>(trained_context, 1), kMaxContext);
  const bool named = options.context_length > 0;
  const model::MemoryPlan largest = memory_plan(
      options, {.num_pages = 1, .num_slots = 1, .max_sequences = options.max_sequences}, kv_type);
  std::vector<RankNeed> needs;
  for (const auto& model : descriptions) {
    RETURN_IF_ERROR(model::kv_cache_shape(model->config(), largest).check());
    needs.push_back(need_of(file, *model, largest, weights));
  }
  return plan_capacity(
      {.where = file.name(),
       .page_size = kPageSize,
       .context_length = named ? std::min(options.context_length, model_context) : model_context,
       .context_is_must = named,
       .max_sequences = options.max_sequences},
      needs, pools);
}

}  // namespace evener::engine
