#pragma once

#include "model/pass.h"

namespace evener::engine {

// A step as every rank of the model executes it.
struct RankPass {
  model::PassInput input;
};

}  // namespace evener::engine
