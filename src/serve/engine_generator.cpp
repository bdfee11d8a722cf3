#include "serve/engine_generator.h"

#include <utility>

namespace evener::serve {

Result<engine::SequenceId> EngineGenerator::submit(engine::GenerationRequest request,
                                                   engine::Sink sink) {
  return engine_.submit(std::move(request), std::move(sink));
}

void EngineGenerator::cancel(engine::SequenceId id) { engine_.cancel(id); }

void EngineGenerator::flush_cache() { engine_.flush_cache(); }

const engine::ModelFacts& EngineGenerator::facts() const { return engine_.facts(); }

const engine::EngineOptions& EngineGenerator::options() const { return engine_.options(); }

engine::Stats EngineGenerator::stats() const { return engine_.stats(); }

std::vector<TokenId> EngineGenerator::tokenize(std::string_view text,
                                               TokenizeOptions options) const {
  const tokenizer::Tokenizer& tokenizer = engine_.tokenizer();
  using tokenizer::SpecialTokens;
  // Not the tokenizer's add_special: some vocabularies would end the prompt with eos.
  std::vector<TokenId> ids = tokenizer.encode(
      text, {.special = options.parse_special ? SpecialTokens::parse : SpecialTokens::plain});
  const auto bos = tokenizer.bos();
  const bool begins_with_bos = !ids.empty() && bos && ids.front() == *bos;
  if (options.add_bos && bos && tokenizer.adds_bos() && !begins_with_bos) {
    ids.insert(ids.begin(), *bos);
  }
  return ids;
}

bool EngineGenerator::ends_turn(TokenId id) const { return engine_.tokenizer().is_eog(id); }

std::string EngineGenerator::token_bytes(TokenId id) const {
  return std::string(engine_.tokenizer().piece(id));
}

std::string EngineGenerator::detokenize(std::span<const TokenId> ids) const {
  return engine_.tokenizer().decode(ids);
}

}  // namespace evener::serve
