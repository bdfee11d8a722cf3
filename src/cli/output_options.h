#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "cli/command_line.h"

namespace evener::cli {

// OUT and --force, which every command has that writes a model.
struct OutputOptions {
  std::filesystem::path path;
  bool force = false;
};

void add_output_options(CommandLine& line, OutputOptions& options);

// That OUT may be written, before any work is done for it. `doing` is for the error:
// invalid_argument if it is there already and not to be replaced, or is a folder.
Status check_output(const OutputOptions& options, const std::string& doing);

}  // namespace evener::cli
