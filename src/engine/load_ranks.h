#pragma once

#include <cstddef>
#include <memory>

#include "base/error.h"
#include "engine/layout_plan.h"
#include "engine/many_ranks.h"
#include "engine/rank_seat.h"
#include "engine/ranks.h"
#include "gguf/file.h"
#include "model/loader.h"
#include "model/rank_memory.h"

namespace evener::engine {

struct LoadRanksOptions {
  size_t num_threads = 0;  // of each device, as device::create_device() takes it
  bool timing = false;     // sums up what each rank's time goes into
};

// Loads each rank's part of the model onto its device, all at the same time. `progress` is called
// from the calling thread, with the sums over ranks. Errors: as device::create_device,
// model::cut_model and model::load_model, with several ranks naming the one.
Result<RankSeats> load_ranks(const std::shared_ptr<const gguf::File>& file, const RankPlan& plan,
                             const LoadRanksOptions& options, const model::LoadProgress& progress);

// A fault on purpose is one of several ranks. Error: invalid_argument.
Status check_fault(const ParallelOptions& options, size_t num_ranks);

// Ranks that are ready to run, with caches as `memory` says: one on the calling thread, several on
// threads of their own. Errors: as model::RankMemory::create and ManyRanks::create.
struct MakeRanksOptions {
  model::MemoryPlan memory;
  ParallelOptions parallel;
  ManyRanks::Fallback fallback = {};
};
Result<std::unique_ptr<Ranks>> make_ranks(RankSeats seats, const MakeRanksOptions& options);

}  // namespace evener::engine
