#pragma once

#include <atomic>
#include <cstddef>

#include "base/error.h"
#include "engine/engine.h"
#include "tune/trial.h"

namespace evener::tune {

struct MeasureOptions {
  size_t prompt_tokens = 1024;  // of the long prompt
  size_t answer_tokens = 32;
  size_t num_rounds = 3;  // of each; the median counts
};

// Runs prompts of random tokens through an engine that nobody else uses. It must have been made
// without prefix cache and with two sequences. Errors: those of Engine::submit; what a rank's
// failure says; cancelled once `interrupted` is set.
Result<Speeds> measure(engine::Engine& engine, const MeasureOptions& options,
                       const std::atomic<bool>& interrupted);

}  // namespace evener::tune
