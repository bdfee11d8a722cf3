#pragma once

#include <span>

#include "base/error.h"
#include "cli/command_line.h"

namespace evener::cli {

// One subcommand: one file of this folder and one line in commands.cpp (those of bench:
// bench_commands.cpp).
struct Command {
  const char* name;
  const char* summary;
  void (*add_options)(CommandLine& line) = nullptr;
  Result<int> (*run)() = nullptr;  // the exit status
  // One that only holds others has neither options nor run: "evener bench sweep" is run.
  std::span<const Command* const> commands = {};
};

// All of them, in the order of the help.
extern const Command* const kCommands[];
extern const size_t kNumCommands;

// Exit statuses of a command that failed: wrong words of the caller, or anything else.
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

}  // namespace evener::cli
