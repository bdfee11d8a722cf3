#pragma once

#include <cstddef>
#include <string>

#include "engine/generation.h"
#include "engine/stop_scanner.h"
#include "tokenizer/detokenizer.h"

namespace evener::engine {

// Generated tokens to the text that a client sees: whole characters, nothing of a stop text.
// One thread; the tokenizer must outlive it.
class AnswerText {
 public:
  AnswerText(const tokenizer::Tokenizer& tokenizer, const GenerationRequest& request);

  // Stop texts are looked for from the min_new_tokens-th token on: one may not begin earlier.
  StopScanner::Result push(TokenId id);

  // The answer has ended: what was held back.
  std::string finish();

 private:
  tokenizer::Detokenizer detokenizer_;
  StopScanner scanner_;
  size_t num_unscanned_;  // tokens left until stop texts count
};

}  // namespace evener::engine
