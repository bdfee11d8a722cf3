#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/generation.h"
#include "serve/fields.h"

namespace evener::serve {

// What chat and completions ask of the token stream in common. Checked; every value is in range.
struct GenerationFields {
  sample::Params sampling;
  std::optional<uint64_t> seed;  // absent: one by chance for each answer
  size_t num_choices = 1;        // n
  std::optional<size_t> max_tokens;
  size_t min_tokens = 0;
  std::vector<std::string> stop;
  std::vector<engine::TokenId> stop_token_ids;
  bool ignore_eos = false;
  bool skip_special_tokens = true;

  int priority = 0;             // the smaller go first
  std::string session = {};     // the chat, named by the client; empty: none
  std::string cache_salt = {};  // keeps what is computed from requests with another; empty: none

  bool stream = false;
  bool include_usage = false;
  bool continuous_usage = false;
  bool timings = false;            // a "timings" block at the end
  bool timings_per_token = false;  // and in each chunk
  bool return_token_ids = false;
};

// Reads them; faults go to `fields`. Fields that change the answer and that this server cannot
// serve (grammars, thinking budgets) are refused by name.
GenerationFields read_generation_fields(Fields& fields, size_t vocab_size);

// Whose request it is, for the engine.
struct Origin {
  uint64_t client = 0;
  uint64_t session = 0;
  uint64_t salt = 0;
};

// The request for one of the choices: seeds count up from the first one's.
engine::GenerationRequest to_generation_request(const GenerationFields& fields,
                                                std::vector<engine::TokenId> prompt,
                                                size_t choice_index, const Origin& origin);

}  // namespace evener::serve
