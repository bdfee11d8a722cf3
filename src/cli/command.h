#pragma once

#include <CLI/App.hpp>

#include "base/error.h"

namespace evener::cli {

// One subcommand: one file of this folder and one line in commands.cpp.
struct Command {
  const char* name;
  const char* summary;
  void (*add_options)(CLI::App& app);
  Result<int> (*run)();  // the exit status
};

}  // namespace evener::cli
