#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/command_line.h"

namespace evener::cli {
namespace {

int exit_status(const Error& error) {
  if (error.code == Code::cancelled) return 130;  // as a shell reports Ctrl-C
  return error.code == Code::invalid_argument ? kExitUsage : kExitFailed;
}

int report(const Error& error) {
  fmt::print(stderr, "evener: {}\n", to_string(error));
  return exit_status(error);
}

int run_command(const Command& command) {
  const Result<int> status = command.run();
  return status ? *status : report(status.error());
}

bool is_command(std::string_view word) {
  return std::any_of(kCommands, kCommands + kNumCommands,
                     [word](const Command* command) { return word == command->name; });
}

Error unknown_command(std::string_view word) {
  std::string names;
  for (size_t i = 0; i < kNumCommands; ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", kCommands[i]->name);
  }
  return {.code = Code::invalid_argument,
          .doing = "run",
          .where = fmt::format("'{}'", printable(word, 40)),
          .why = "there is no such command",
          .remedy = "commands are " + names};
}

int run(int argc, char** argv) {
  if (argc > 1 && *argv[1] != '-' && !is_command(argv[1])) return report(unknown_command(argv[1]));
  CLI::App app("Runs large language models on the cards and cores of one workstation.", "evener");
  app.set_version_flag("--version", fmt::format("evener {}", kVersion));
  app.require_subcommand(1);
  const Command* chosen = nullptr;
  for (size_t i = 0; i < kNumCommands; ++i) {
    const Command* command = kCommands[i];
    CLI::App* sub = app.add_subcommand(command->name, command->summary);
    CommandLine line(*sub);
    command->add_options(line);
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
