#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "serve/api_error.h"
#include "serve/generation_fields.h"
#include "serve/generator.h"
#include "serve/json.h"

namespace evener::serve {

// A checked body of POST /v1/completions, its prompts tokenized.
struct CompletionRequest {
  GenerationFields generation;
  std::vector<std::vector<TokenId>> prompts;  // at least one, none empty
  std::vector<std::string> prompt_texts;      // one for each, for echo
  std::optional<size_t> num_top_logprobs;     // set: logprobs were asked for
  bool echo = false;                          // the prompt comes back before the answer
  bool prompt_only = false;                   // max_tokens 0: nothing is generated
};

// Fields that are unknown are ignored, null is absent, and what would change the answer but cannot
// be served is refused by name. Source: reference/serving/api.md 2.
std::expected<CompletionRequest, ApiError> parse_completion_request(const Json& body,
                                                                    const Generator& generator);

}  // namespace evener::serve
