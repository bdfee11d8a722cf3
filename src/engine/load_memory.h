#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "engine/capacity.h"
#include "engine/engine.h"
#include "engine/layout_plan.h"
#include "engine/rank_memory_pools.h"
#include "gguf/file.h"
#include "model/loader.h"
#include "model/rank_memory.h"

namespace evener::engine {

inline constexpr size_t kPageSize = 64;         // positions
inline constexpr size_t kPromptLogitRows = 32;  // a step, when a prompt's own logits are wanted

// The parts of all ranks, without their weights.
using Descriptions = std::vector<std::unique_ptr<model::Model>>;

// Errors: as model::cut_model and model::describe_model.
Result<Descriptions> describe(const gguf::File& file, const RankPlan& plan);

enum class Weights { to_be_loaded, loaded };

// What a rank with this part takes. Before its weights are loaded, they and what loading takes for
// a while are among it.
RankNeed need_of(const gguf::File& file, model::Model& description, const model::MemoryPlan& memory,
                 Weights weights);

// What each rank is to hold.
model::MemoryPlan memory_plan(const EngineOptions& options, const Capacity& capacity,
                              device::KvType kv_type);

// What the ranks of `pools` can hold. Before the weights are loaded it is a plan, by their size;
// after it, by what is left.
// Errors: as plan_capacity; unsupported, as device::KvCacheShape::check.
Result<Capacity> plan_memory(const EngineOptions& options, const gguf::File& file,
                             const Descriptions& descriptions, device::KvType kv_type,
                             Weights weights, std::span<const MemoryPool> pools);

size_t sum_of_weights(const gguf::File& file, const Descriptions& descriptions);

}  // namespace evener::engine
