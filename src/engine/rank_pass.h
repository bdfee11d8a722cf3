#pragma once

#include <cstdint>
#include <span>

#include "model/pass.h"

namespace evener::engine {

// A step as every rank of the model executes it.
struct RankPass {
  model::PassInput input;
  std::span<const int32_t> fresh_slots;  // state slots of sequences that begin with this pass
};

}  // namespace evener::engine
