// evener chat: a conversation in the terminal.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "base/signals.h"
#include "cli/chat_session.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/line_editor.h"
#include "cli/parallel_options.h"
#include "cli/sampling_options.h"
#include "cli/tuned_layout.h"

namespace evener::cli {
namespace {

struct Options {
  engine::EngineOptions engine = {.max_sequences = 1};
  ParallelWords parallel;
  ChatSession::Settings session;
};
Options options;

void add_options(CommandLine& line) {
  line.add("-n", options.session.max_tokens, "most tokens of an answer; 0: no limit");
  line.add("--system", options.session.system, "system prompt");
  add_sampling_options(line, options.session.sampling);
  add_engine_options(line, options.engine, ModelArgument::positional);
  options.parallel.add_to(line);
}

// A line, and those that follow as long as each ends in a backslash.
std::optional<std::string> read_message(LineEditor& editor) {
  std::optional<std::string> message = editor.read("> ");
  while (message && message->ends_with('\\')) {
    message->back() = '\n';
    const std::optional<std::string> more = editor.read(". ");
    if (!more) break;
    *message += *more;
  }
  return message;
}

void greet(const engine::ModelFacts& facts) {
  fmt::print("{}{}, {:.1f} M parameters, {}, {} tokens of context. /help lists commands.\n",
             facts.id, options.engine.model.empty() ? " (the small bundled model)" : "",
             static_cast<double>(facts.num_parameters) / 1e6, facts.quantisation,
             facts.admissible_tokens);
}

Result<int> run() {
  RETURN_IF_ERROR(decide_layout(options.parallel, options.engine));
  ASSIGN_OR_RETURN(const auto engine, load_engine(options.engine));
  ASSIGN_OR_RETURN(chat::ChatTemplate chat_template, chat_template_of(*engine));
  LineEditor editor;
  options.session.is_terminal = editor.is_terminal();
  ChatSession session(*engine, std::move(chat_template), options.session);
  SignalWatcher* self = nullptr;
  SignalWatcher watcher([&session, &self](int signal_number) {
    if (signal_number == SIGTERM) _exit(128 + SIGTERM);
    if (session.interrupt()) {
      self->acknowledge();
    } else {
      constexpr std::string_view kHint = "\n(Ctrl-D or /exit leaves)\n";
      [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, kHint.data(), kHint.size());
    }
  });
  self = &watcher;

  if (editor.is_terminal()) greet(engine->facts());
  for (;;) {
    const std::optional<std::string> message = read_message(editor);
    if (!message) break;
    ASSIGN_OR_RETURN(const ChatSession::Outcome outcome, session.handle(*message));
    if (outcome == ChatSession::Outcome::leave) break;
  }
  if (editor.is_terminal()) fmt::print("\n");
  return 0;
}

}  // namespace

extern const Command chat_command;
const Command chat_command = {
    .name = "chat",
    .summary = "Talk to a model in the terminal",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
