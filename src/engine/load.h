#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/work_times.h"
#include "cache/tiers.h"
#include "engine/capacity.h"
#include "engine/engine.h"
#include "engine/layout_plan.h"
#include "engine/load_memory.h"
#include "engine/ranks.h"
#include "engine/work_report.h"
#include "parallel/mpi/mpi_world.h"
#include "tokenizer/tokenizer.h"

namespace evener::engine {

// A model ready to run, and all it stands on.
struct LoadedModel {
  std::unique_ptr<tokenizer::Tokenizer> tokenizer;
  // The step loop's, with one rank its device's too; null if nobody asked.
  std::shared_ptr<WorkTimes> times;
  std::vector<RankTimes> rank_times;  // of several ranks
  std::unique_ptr<Ranks> ranks;
  std::unique_ptr<cache::Tiers> tiers;  // null: none are wanted
  Capacity capacity;
  ModelFacts facts;
  // For whoever starts an engine over it to fill in: called once when the ranks have failed for
  // good and every request is refused, from a thread that must not be held up.
  std::function<void(const Error&)> when_down = {};
};

// Opens the file, checks everything that can be checked, the memory included, and only then packs
// the weights; a first small pass makes sure that the first request finds all in place.
// Errors: as Engine::create.
Result<std::unique_ptr<LoadedModel>> load(const EngineOptions& options,
                                          const LoadObserver& observer);

// The same over ranks that somebody else has chosen: for tests, which may put several of them on
// one core.
Result<std::unique_ptr<LoadedModel>> load(const EngineOptions& options, const RankPlan& plan,
                                          const LoadObserver& observer);

// The same over processes, from process 0: the others run run_process() of
// engine/process_placement.h. `processes` outlives the model. Errors: invalid_argument too: another
// number of ranks than processes; programs, models or options that differ, naming whose.
Result<std::unique_ptr<LoadedModel>> load(const EngineOptions& options,
                                          parallel::MpiWorld& processes,
                                          const LoadObserver& observer);

// What is wrong with the options themselves; the type of their caches.
Result<device::KvType> check_load(const EngineOptions& options);

}  // namespace evener::engine
