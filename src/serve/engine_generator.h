#pragma once

#include "serve/generator.h"

namespace evener::serve {

// The running engine as the server sees it. `engine` must outlive it.
class EngineGenerator : public Generator {
 public:
  explicit EngineGenerator(engine::Engine& engine) : engine_(engine) {}

  Result<engine::SequenceId> submit(engine::GenerationRequest request, engine::Sink sink) override;
  void cancel(engine::SequenceId id) override;
  void flush_cache() override;
  const engine::ModelFacts& facts() const override;
  const engine::EngineOptions& options() const override;
  engine::Stats stats() const override;
  std::vector<TokenId> tokenize(std::string_view text, TokenizeOptions options) const override;
  bool ends_turn(TokenId id) const override;
  std::string token_bytes(TokenId id) const override;
  std::string detokenize(std::span<const TokenId> ids) const override;

 private:
  engine::Engine& engine_;
};

}  // namespace evener::serve
