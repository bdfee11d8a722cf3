#pragma once

#include <CLI/App.hpp>

#include "sample/params.h"

namespace evener::cli {

// --temp, --top-k, --top-p, --min-p, --typical, --repeat-penalty, --seed.
void add_sampling_options(CLI::App& app, sample::Params& params);

}  // namespace evener::cli
