#pragma once

#include "cli/command_line.h"
#include "sample/params.h"

namespace evener::cli {

// --temp, --top-k, --top-p, --min-p, --typical, --repeat-penalty, --seed.
void add_sampling_options(CommandLine& line, sample::Params& params);

}  // namespace evener::cli
