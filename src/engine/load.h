#pragma once

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

}  // namespace evener::engine
