#pragma once

#include <string>

#include "tokenizer/token_id.h"
#include "tokenizer/tokenizer.h"

namespace evener::tokenizer {

struct DetokenizerOptions {
  bool skip_special = true;  // leave control and unknown tokens out
  // The tokens begin a text, so that a space prefix (see Tokenizer::decode) is left out. Answers go
  // on after a prompt and keep their leading space.
  bool at_text_start = false;
};

// Turns a stream of tokens into text as it comes. What it returns is valid UTF-8 made of whole
// characters: bytes of a character that is not complete wait, bytes that can never become one are
// U+FFFD each. All returned strings together are the same however they are cut.
//
// One stream, one thread at a time; the tokenizer must outlive it.
class Detokenizer {
 public:
  explicit Detokenizer(const Tokenizer& tokenizer, DetokenizerOptions options = {});

  // Text that `id` completes; often empty, for a token may be part of a character.
  std::string push(TokenId id);

  // The stream has ended: what waited, as U+FFFD. push() may begin another stream after it.
  std::string finish();

 private:
  const Tokenizer* tokenizer_;
  DetokenizerOptions options_;
  bool at_text_start_;
  std::string pending_;  // bytes of one unfinished character
};

}  // namespace evener::tokenizer
