#pragma once

#include <filesystem>

#include "base/error.h"
#include "cli/parallel_options.h"
#include "engine/engine.h"
#include "tune/trial.h"

namespace evener::cli {

// Where `evener tune` keeps what it found: evener/tune below XDG_STATE_HOME; empty without a home.
std::filesystem::path tuned_folder();

// The trial's devices and layout instead of the options' own.
void apply(const tune::Trial& trial, engine::ParallelOptions& parallel);

// Devices and layout as the words of the command line say. Where they name neither: those that
// `evener tune` found for the model on this machine, if it did, and its chunk if none was chosen,
// with a line in the log that says so; what cannot be read or used of it is told and left. Errors:
// as ParallelWords::apply.
Status decide_layout(const ParallelWords& words, engine::EngineOptions& options);

}  // namespace evener::cli
