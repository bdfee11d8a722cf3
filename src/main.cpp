#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/report_error.h"

namespace evener::cli {
namespace {

int run_command(const Command& command) {
  const Result<int> status = command.run();
  return status ? *status : report_error(status.error());
}

using Commands = std::span<const Command* const>;

const Command* find(Commands commands, std::string_view name) {
  const auto found = std::ranges::find(commands, name, &Command::name);
  return found == commands.end() ? nullptr : *found;
}

Error unknown_command(const std::string& doing, std::string_view word, Commands commands) {
  std::string names;
  for (const Command* command : commands) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", command->name);
  }
  return {.code = Code::invalid_argument,
          .doing = doing,
          .where = fmt::format("'{}'", printable(word, 40)),
          .why = "there is no such command",
          .remedy = "commands are " + names};
}

// Of the leading words, which name commands. CLI11 would not tell which there are.
Status check_command_names(std::span<char* const> words) {
  Commands commands(kCommands, kNumCommands);
  std::string doing = "run";
  for (const std::string_view word : words) {
    if (commands.empty() || word.starts_with('-')) return {};
    const Command* command = find(commands, word);
    if (command == nullptr) return unknown_command(doing, word, commands);
    commands = command->commands;
    doing += fmt::format(" {}", word);
  }
  return {};
}

// `chosen` becomes the one that was named.
void add_command(CLI::App& parent, const Command& command, const Command*& chosen) {
  CLI::App* app = parent.add_subcommand(command.name, command.summary);
  if (!command.commands.empty()) app->require_subcommand(1);
  for (const Command* inner : command.commands) add_command(*app, *inner, chosen);
  if (command.run == nullptr) return;
  CommandLine line(*app);
  command.add_options(line);
  app->callback([&chosen, &command] { chosen = &command; });
}

int run(int argc, char** argv) {
  const std::span<char* const> words(argv, static_cast<size_t>(argc));
  const Status names = check_command_names(words.subspan(std::min<size_t>(1, words.size())));
  if (!names) return report_error(names.error());
  CLI::App app("Runs large language models on the cards and cores of one workstation.", "evener");
  app.set_version_flag("--version", fmt::format("evener {}", kVersion));
  app.require_subcommand(1);
  const Command* chosen = nullptr;
  for (const Command* command : Commands(kCommands, kNumCommands))
    add_command(app, *command, chosen);
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
