#include "cli/engine_options.h"

#include <atomic>
#include <optional>
#include <string>

#include "base/progress.h"
#include "base/signals.h"
#include "cli/kv_option.h"

namespace evener::cli {
namespace {

std::string text_of(const tokenizer::Tokenizer& tokenizer, std::optional<tokenizer::TokenId> id) {
  return id ? std::string(tokenizer.spelling(*id)) : std::string();
}

}  // namespace

void add_engine_options(CommandLine& line, engine::EngineOptions& options, ModelArgument model) {
  line.add(
      model == ModelArgument::positional ? "MODEL" : "-m,--model", options.model,
      "GGUF file (of a split one: any part) or Hugging Face folder; without it the small bundled "
      "model");
  line.add("--threads", options.num_threads,
           "threads that compute on each CPU; 0: one per physical core")
      .between(0, 1024);
  line.add("--ctx", options.context_length,
           "tokens a conversation may have; 0: as many as model and memory allow");
  line.add("--parallel", options.max_sequences, "answers generated at the same time")
      .between(1, 256);
  line.add("--chunk", options.prefill_chunk, "prompt tokens read in one step").between(1, 4096);
  add_kv_option(line, "--kv", options.kv_type);
  line.add("--memory", options.memory_bytes_max,
           "most memory to use, as 12G; 0: what the machine has free")
      .in_bytes();
}

const char* phase_name(engine::LoadState::Phase phase) {
  using Phase = engine::LoadState::Phase;
  switch (phase) {
    case Phase::map:
      return "opening the model";
    case Phase::pack:
      return "packing weights";
    case Phase::warm:
      return "warming up";
    case Phase::ready:
      return "ready";
  }
  return "loading";
}

Result<std::unique_ptr<engine::Engine>> load_engine(const engine::EngineOptions& options) {
  std::atomic<bool> interrupted{false};
  const SignalWatcher watcher([&interrupted](int) { interrupted = true; });
  Progress progress;
  return engine::Engine::create(options, [&](const engine::LoadState& state) {
    progress.show(phase_name(state.phase), state.fraction);
    return !interrupted;
  });
}

Result<chat::ChatTemplate> chat_template_of(const engine::Engine& engine) {
  const engine::ModelFacts& facts = engine.facts();
  const tokenizer::Tokenizer& tokenizer = engine.tokenizer();
  chat::SpecialTexts special;
  special.bos = text_of(tokenizer, tokenizer.bos());
  special.eos = text_of(tokenizer, tokenizer.eos());
  special.pad = text_of(tokenizer, tokenizer.pad());
  special.unk = text_of(tokenizer, tokenizer.unk());
  std::optional<std::string> own;
  if (!facts.chat_template.empty()) own = facts.chat_template;
  return chat::template_for(own, facts.family, special);
}

}  // namespace evener::cli
