#include "cli/engine_options.h"

#include <CLI/CLI.hpp>
#include <atomic>
#include <optional>
#include <string>

#include "base/progress.h"
#include "base/signals.h"

namespace evener::cli {
namespace {

std::string text_of(const tokenizer::Tokenizer& tokenizer, std::optional<tokenizer::TokenId> id) {
  return id ? std::string(tokenizer.spelling(*id)) : std::string();
}

}  // namespace

void add_engine_options(CLI::App& app, engine::EngineOptions& options, ModelArgument model) {
  app.add_option(model == ModelArgument::positional ? "MODEL" : "-m,--model", options.model,
                 "GGUF file (of a split one: any part); without it the small bundled model");
  app.add_option("--device", options.device, "cpu:N computes on the cores of NUMA node N")
      ->capture_default_str();
  app.add_option("--threads", options.num_threads, "threads that compute; 0: one per physical core")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  app.add_option("--ctx", options.context_length,
                 "tokens a conversation may have; 0: as many as model and memory allow")
      ->capture_default_str();
  app.add_option("--parallel", options.max_sequences, "answers generated at the same time")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_option("--chunk", options.prefill_chunk, "prompt tokens read in one step")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app.add_option("--kv", options.kv_type, "type of the key and value cache")
      ->capture_default_str()
      ->check(CLI::IsMember({"f16", "f32"}));
  app.add_option("--memory", options.memory_bytes_max,
                 "most memory to use, as 12G; 0: what the machine has free")
      ->capture_default_str()
      ->transform(CLI::AsSizeValue(false));
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
