#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>

#include "sample/params.h"
#include "tokenizer/token_id.h"

namespace evener::sample {

using tokenizer::TokenId;

// What a token pays for having been there.
//   repetition: among the last penalty_last_n tokens, prompt included:
//               logit / penalty if positive, logit * penalty if not (Keskar et al. 2019)
//   presence, frequency: generated n > 0 times: logit - presence - n * frequency
// Logits that are not finite stay; results are kept finite.
class Penalties {
 public:
  Penalties(const Params& params, std::span<const TokenId> prompt);

  // Every token that was given to it is below logits.size().
  void apply(std::span<float> logits) const;

  // `id` was generated.
  void accept(TokenId id);

 private:
  bool repetition_on() const { return repetition_ != 1 && window_max_ > 0; }
  bool counts_on() const { return presence_ != 0 || frequency_ != 0; }
  void remember(TokenId id);

  float repetition_;
  float presence_;
  float frequency_;
  size_t window_max_;
  std::deque<TokenId> window_;                           // what repetition looks at
  std::unordered_map<TokenId, uint32_t> in_window_;      // how often
  std::unordered_map<TokenId, uint32_t> num_generated_;  // how often
};

}  // namespace evener::sample
