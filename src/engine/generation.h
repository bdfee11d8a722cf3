#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "sample/params.h"
#include "tokenizer/token_id.h"

namespace evener::engine {

using SequenceId = uint64_t;
using tokenizer::TokenId;

// One token stream that a caller wants. n = 2 makes two of them.
struct GenerationRequest {
  std::vector<TokenId> prompt;  // at least one; each below the vocabulary's size
  sample::Params sampling;
  size_t max_new_tokens = SIZE_MAX;  // clamped to what remains of the admissible length
  size_t min_new_tokens = 0;         // end-of-generation tokens and stops do not count before
  std::vector<std::string> stop;     // text that ends the stream; not part of the answer
  std::vector<TokenId> stop_token_ids;
  bool ignore_eos = false;
  bool skip_special_tokens = true;
  std::optional<size_t>
      num_top_logprobs;          // set: log-probabilities of chosen tokens and of that many best
  bool prompt_logprobs = false;  // also of the prompt's tokens
};

enum class FinishReason {
  stop,       // end-of-generation token, stop text or stop token
  length,     // max_new_tokens or the admissible length
  cancelled,  // by cancel() or drain
  failed,     // Update::error says why
};

struct TokenLogprob {
  TokenId id = 0;
  std::string bytes;  // of the token alone: may be half a character
  float logprob = 0;  // of the model's distribution at temperature 1, before any cut
};

struct TokenOutput {
  TokenLogprob chosen;
  std::vector<TokenLogprob> top;  // falling
};

struct Timing {
  std::chrono::duration<double> queued{};   // submit to first step
  std::chrono::duration<double> prefill{};  // first step to first token
  std::chrono::duration<double> decode{};   // first token to now
};

// What one step brought for one sequence. The last one carries `finish`.
struct Update {
  SequenceId id = 0;
  std::string text;  // whole characters only; what may turn out to be a stop text is held back
  std::vector<TokenOutput> tokens;  // generated in this step; logprobs only if asked for
  // Once, when the prompt has been read, if prompt_logprobs. The first token, which nothing
  // predicts, has logprob 0 and no `top`.
  std::vector<TokenOutput> prompt_tokens;
  std::optional<FinishReason> finish;
  std::optional<Error> error;
  size_t num_prompt_tokens = 0;
  size_t num_prefilled_tokens = 0;  // of the prompt, so far
  size_t num_generated_tokens = 0;  // so far
  Timing timing;
};

// Called on the engine's thread, in order, for prefill progress too; must neither block nor throw.
using Sink = std::move_only_function<void(Update)>;

}  // namespace evener::engine
