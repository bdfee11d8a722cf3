#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "base/error.h"
#include "base/version.h"
#include "cli/command.h"

namespace evener::cli {
namespace {

int exit_status(const Error& error) {
  if (error.code == Code::cancelled) return 130;  // as a shell reports Ctrl-C
  return error.code == Code::invalid_argument ? kExitUsage : kExitFailed;
}

int run_command(const Command& command) {
  const Result<int> status = command.run();
  if (status) return *status;
  fmt::print(stderr, "evener: {}\n", to_string(status.error()));
  return exit_status(status.error());
}

int run(int argc, char** argv) {
  CLI::App app("Runs large language models on the cards and cores of one workstation.", "evener");
  app.set_version_flag("--version", fmt::format("evener {}", kVersion));
  app.require_subcommand(1);
  const Command* chosen = nullptr;
  for (size_t i = 0; i < kNumCommands; ++i) {
    const Command* command = kCommands[i];
    CLI::App* sub = app.add_subcommand(command->name, command->summary);
    command->add_options(*sub);
    sub->callback([&chosen, command] { chosen = command; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? 0 : kExitUsage;
  }
  return run_command(*chosen);
}

}  // namespace
}  // namespace evener::cli

int main(int argc, char** argv) { return evener::cli::run(argc, argv); }
