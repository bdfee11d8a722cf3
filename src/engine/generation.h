#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cache/residency.h"
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

  // Whose share of the machine it takes, and who may share what it computes.
  uint64_t client = 0;   // who asks: clients take turns
  uint64_t session = 0;  // a chat that comes back with more; 0: none
  uint64_t salt = 0;     // equal beginnings are computed once among requests of equal salts
  int priority = 0;      // the smaller go first among those of one client
  std::vector<size_t> message_ends;  // positions at which a message of the prompt ends, rising
};

enum class FinishReason {
  stop,       // end-of-generation token, stop text or stop token
  length,     // max_new_tokens or the admissible length
  cancelled,  // by cancel() or drain
  failed,     // Update::error says why; unavailable: it had no place, and may try again later
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
  std::chrono::duration<double> queued{};   // submit to a place
  std::chrono::duration<double> prefill{};  // a place to the first token
  std::chrono::duration<double> decode{};   // first token to now
  std::chrono::duration<double> gap_max{};  // longest between two tokens
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
  // Of the prompt, those that were computed for somebody before, and why not more; once it runs.
  size_t num_cached_tokens = 0;
  cache::MatchEnd match_end = cache::MatchEnd::differs;
  std::optional<size_t> num_ahead;  // while it waits: of those who wait, how many stand before it
  size_t num_prefilled_tokens = 0;  // of the prompt, so far, the cached ones among them
  size_t num_generated_tokens = 0;  // so far
  Timing timing;
};

// Called on the engine's thread, in order, for prefill progress too; must neither block nor throw.
using Sink = std::move_only_function<void(Update)>;

}  // namespace evener::engine
