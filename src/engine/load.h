#pragma once

#include <memory>

#include "base/error.h"
#include "base/work_times.h"
#include "cache/tiers.h"
#include "device/device.h"
#include "engine/capacity.h"
#include "engine/engine.h"
#include "engine/ranks.h"
#include "gguf/file.h"
#include "model/model.h"
#include "tokenizer/tokenizer.h"

namespace evener::engine {

// A model ready to run, and all it stands on.
struct LoadedModel {
  gguf::File file;
  std::unique_ptr<tokenizer::Tokenizer> tokenizer;
  std::unique_ptr<WorkTimes> times;  // the device's and the step loop's; null if nobody asked
  std::unique_ptr<device::Device> device;
  std::unique_ptr<model::Model> model;
  std::unique_ptr<Ranks> ranks;
  std::unique_ptr<cache::Tiers> tiers;  // null: none are wanted
  Capacity capacity;
  ModelFacts facts;
};

inline constexpr size_t kPageSize = 64;         // positions
inline constexpr size_t kPromptLogitRows = 32;  // a step, when a prompt's own logits are wanted

// Opens the file, checks everything that can be checked, the memory included, and only then packs
// the weights; a first small pass makes sure that the first request finds all in place.
// Errors: as Engine::create.
Result<std::unique_ptr<LoadedModel>> load(const EngineOptions& options,
                                          const LoadObserver& observer);

}  // namespace evener::engine
