#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/generation.h"
#include "serve/json.h"

namespace evener::serve {

// {"token","logprob","bytes","top_logprobs":[...]}: one entry of choices[].logprobs.content.
Json chat_logprob(const engine::TokenOutput& token);

// The four lists of the completions protocol, filled token by token. Offsets count characters from
// the text's beginning and go on across chunks.
class CompletionLogprobs {
 public:
  // `known` is false for the first token of a prompt: nothing predicts it.
  void add(const engine::TokenOutput& token, bool known);
  bool empty() const { return tokens_.empty(); }
  // {"tokens","token_logprobs","top_logprobs","text_offset"} of what was added since the last time.
  Json take();

 private:
  Json tokens_ = Json::array();
  Json token_logprobs_ = Json::array();
  Json top_logprobs_ = Json::array();
  Json text_offset_ = Json::array();
  size_t offset_ = 0;
};

}  // namespace evener::serve
