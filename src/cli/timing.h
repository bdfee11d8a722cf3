#pragma once

#include <string>

#include "cli/command_line.h"
#include "engine/work_report.h"

namespace evener::cli {

// --timing.
void add_timing_option(CommandLine& line, bool& wanted);

// The table that people read: time, share and calls by kind, then a line a layer with experts.
std::string timing_text(const engine::WorkReport& report);

// timing_text() to standard error.
void print_timing(const engine::WorkReport& report);

}  // namespace evener::cli
