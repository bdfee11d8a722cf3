// evener run: one answer on stdout, nothing else.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "base/signals.h"
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/parallel_options.h"
#include "cli/sampling_options.h"
#include "cli/timing.h"
#include "cli/tuned_layout.h"

namespace evener::cli {
namespace {

struct Options {
  std::string prompt;
  std::string system;
  bool raw = false;
  size_t max_tokens = 0;
  engine::EngineOptions engine = {.max_sequences = 1};
  ParallelWords parallel;
  sample::Params sampling;
};
Options options;

void add_options(CommandLine& line) {
  line.add("PROMPT", options.prompt, "what to say to the model").required();
  line.add("-n", options.max_tokens,
           "most tokens to generate; 0: until the model ends or the context is full");
  line.add("--system", options.system, "system prompt");
  line.add("--raw", options.raw, "continue PROMPT as plain text, without the chat template");
  add_sampling_options(line, options.sampling);
  add_engine_options(line, options.engine, ModelArgument::option);
  options.parallel.add_to(line);
  add_timing_option(line, options.engine.timing);
}

Result<std::string> prompt_text(const engine::Engine& engine) {
  if (options.raw) return options.prompt;
  ASSIGN_OR_RETURN(const chat::ChatTemplate chat_template, chat_template_of(engine));
  chat::Conversation conversation;
  if (!options.system.empty())
    conversation.messages.push_back({{"role", "system"}, {"content", options.system}});
  conversation.messages.push_back({{"role", "user"}, {"content", options.prompt}});
  return chat_template.render(conversation);
}

Result<int> run() {
  RETURN_IF_ERROR(decide_layout(options.parallel, options.engine));
  ASSIGN_OR_RETURN(const auto engine, load_engine(options.engine));
  ASSIGN_OR_RETURN(const std::string text, prompt_text(*engine));
  engine::GenerationRequest request;
  request.prompt = prompt_tokens(engine->tokenizer(), text);
  request.sampling = options.sampling;
  if (options.max_tokens > 0) request.max_new_tokens = options.max_tokens;

  Answer answer(*engine);
  const SignalWatcher watcher([&answer](int) { answer.interrupt(); });
  ASSIGN_OR_RETURN(const engine::Update last,
                   answer.wait(std::move(request), [](const engine::Update& update) {
                     std::fwrite(update.text.data(), 1, update.text.size(), stdout);
                     std::fflush(stdout);
                   }));
  std::fputc('\n', stdout);
  if (const auto report = engine->stop()) print_timing(*report);
  if (last.finish != engine::FinishReason::cancelled) return 0;
  return Error{.code = Code::cancelled,
               .doing = "finish the answer",
               .where = {},
               .why = "interrupted",
               .remedy = {}};
}

}  // namespace

extern const Command run_command;
const Command run_command = {
    .name = "run",
    .summary = "Answer one prompt on standard output",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
