#pragma once

#include <cstddef>
#include <vector>

#include "engine/generation.h"
#include "serve/json.h"

namespace evener::serve {

// Counts what one answer took, over all its choices.
class Usage {
 public:
  // `choices_per_prompt` neighbours share a prompt, which counts once.
  Usage(size_t num_choices, size_t choices_per_prompt)
      : choices_(num_choices), choices_per_prompt_(choices_per_prompt) {}

  void count(size_t choice, const engine::Update& update);
  void count_reasoning(size_t num_tokens) { num_reasoning_tokens_ += num_tokens; }

  size_t num_prompt_tokens() const;
  size_t num_generated_tokens() const;

  // Of the prompts, those that were computed for somebody before. Of neighbours that share a prompt
  // the first one's count, as the others find what that one has computed.
  size_t num_cached_tokens() const;

  // The "usage" object of the protocol.
  Json to_json() const;
  // llama-server's "timings" of one choice: prompt_n counts what was computed, cache_n what was
  // not. More than llama-server says: the time in the queue, the longest time between two tokens,
  // and why no more of the prompt was found computed (cache_end).
  Json timings(size_t choice) const;

 private:
  struct Choice {
    size_t num_prompt_tokens = 0;
    size_t num_cached_tokens = 0;
    cache::MatchEnd match_end = cache::MatchEnd::differs;
    size_t num_generated_tokens = 0;
    engine::Timing timing;
  };

  std::vector<Choice> choices_;
  size_t choices_per_prompt_;
  size_t num_reasoning_tokens_ = 0;
};

// "all", "differs", "no_state", "evicted" or "disabled".
const char* match_end_name(cache::MatchEnd end);

}  // namespace evener::serve
