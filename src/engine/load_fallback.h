#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/rank_seat.h"
#include "gguf/file.h"
#include "model/rank_memory.h"

namespace evener::engine {

// After failures of ranks: the model in another layout, on the devices of the options but those
// that were lost, if there is room for it with the caches as they are. Errors: unavailable (no
// device is left); as plan_ranks, plan_capacity and load_ranks.
Result<RankSeats> load_without(const std::vector<std::string>& lost_devices,
                               const std::shared_ptr<const gguf::File>& file, EngineOptions options,
                               const model::MemoryPlan& memory);

}  // namespace evener::engine
