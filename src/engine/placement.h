#pragma once

#include <memory>
#include <optional>

#include "base/error.h"
#include "engine/capacity.h"
#include "engine/engine.h"
#include "engine/layout_plan.h"
#include "engine/load_memory.h"
#include "engine/load_ranks.h"
#include "engine/rank_seat.h"
#include "gguf/file.h"

namespace evener::engine {

// Where the ranks of a model run, for load(): its functions are called in this order.
class Placement {
 public:
  virtual ~Placement() = default;

  // How the model is cut, and over what.
  virtual Result<RankPlan> plan(const gguf::File& file) = 0;

  // What all ranks can hold, before the weights are loaded and behind it. Error: out_of_memory.
  virtual Result<Capacity> capacity(const gguf::File& file, const RankPlan& plan,
                                    const Descriptions& descriptions, Weights weights) = 0;

  // The seats of all ranks, with the parts loaded that are this process'. At least the first is.
  virtual Result<RankSeats> load(const std::shared_ptr<const gguf::File>& file,
                                 const RankPlan& plan, const model::LoadProgress& progress) = 0;

  // Ranks that are ready to run.
  virtual Result<std::unique_ptr<Ranks>> make(RankSeats seats, const MakeRanksOptions& options) = 0;
};

// All in this process: by the plan, or the one that the options lead to, which outlive it.
std::unique_ptr<Placement> place_here(const EngineOptions& options, device::KvType kv_type,
                                      std::optional<RankPlan> plan);

}  // namespace evener::engine
