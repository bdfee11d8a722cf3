#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace evener::sample {

// How the next token is chosen. The defaults choose plainly: temperature 1, nothing cut off. Stages
// run in this order: logit bias, penalties, (temperature 0: arg-max), temperature, top-k, typical,
// top-p, min-p, draw.
struct Params {
  float temperature = 1;  // 0: always the most likely token (the lowest id among equals)
  int32_t top_k = 0;      // 0: off
  float top_p = 1;        // 1: off
  float min_p = 0;        // 0: off
  float typical_p = 1;    // 1: off

  float repetition_penalty = 1;  // 1: off; divides positive logits, multiplies negative ones
  float presence_penalty = 0;
  float frequency_penalty = 0;
  int32_t penalty_last_n = 64;  // how many last tokens (prompt included) repetition_penalty looks
                                // at; -1: all. Presence and frequency count generated tokens only

  float dry_multiplier = 0;  // 0: off
  float dry_base = 1.75F;
  int32_t dry_allowed_length = 2;
  int32_t dry_penalty_last_n = -1;  // -1: all
  std::vector<std::string> dry_sequence_breakers = {"\n", ":", "\"", "*"};

  std::vector<std::pair<int32_t, float>> logit_bias = {};  // token id, added to its logit
  uint64_t seed = 0;  // same seed, same prompt, same parameters: same tokens, whatever else runs
};

}  // namespace evener::sample
