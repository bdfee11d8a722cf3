#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/generation.h"

namespace evener::serve {

using engine::TokenId;

struct TokenizeOptions {
  bool add_bos = false;        // put bos in front where the model wants one, unless it is there
  bool parse_special = false;  // "<|im_end|>" in the text is that token
};

// What the server needs of an engine: the seam at which tests put a model of their own.
// Every method may be called from any thread. Contracts are those of engine::Engine.
class Generator {
 public:
  virtual ~Generator() = default;

  virtual Result<engine::SequenceId> submit(engine::GenerationRequest request,
                                            engine::Sink sink) = 0;
  virtual void cancel(engine::SequenceId id) = 0;
  virtual void flush_cache() = 0;
  virtual const engine::ModelFacts& facts() const = 0;
  virtual const engine::EngineOptions& options() const = 0;
  virtual engine::Stats stats() const = 0;

  virtual std::vector<TokenId> tokenize(std::string_view text, TokenizeOptions options) const = 0;
  // Whether templates put it behind a message, and models behind an answer.
  virtual bool ends_turn(TokenId id) const = 0;
  // Bytes of one token as text output shows it; may be half a character. `id` is below vocab_size.
  virtual std::string token_bytes(TokenId id) const = 0;
  // Bytes of the whole; not always valid UTF-8. Every id is below vocab_size.
  virtual std::string detokenize(std::span<const TokenId> ids) const = 0;
};

}  // namespace evener::serve
