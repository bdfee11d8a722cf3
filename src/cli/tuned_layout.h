#pragma once

#include <filesystem>

#include "engine/engine.h"
#include "tune/trial.h"

namespace evener::cli {

// Where `evener tune` keeps what it found: evener/tune below XDG_STATE_HOME; empty without a home.
std::filesystem::path tuned_folder();

// The trial's devices and layout instead of the options' own.
void apply(const tune::Trial& trial, engine::ParallelOptions& parallel);

// Where the words of the command line name no device and no layout: those that `evener tune` found
// for the model on this machine, if it did, and its chunk if none was chosen, with a line in the
// log that says so. What cannot be read is told and left.
void use_tuned_layout(engine::EngineOptions& options);

}  // namespace evener::cli
