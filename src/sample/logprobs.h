#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sample/candidates.h"

namespace evener::sample {

// Log-probabilities of one row of logits at temperature 1: logit - log(sum of exp(logits)).
// Logits that are not finite have probability 0. `logits` must outlive it and hold a finite one.
class Logprobs {
 public:
  explicit Logprobs(std::span<const float> logits);

  float of(TokenId id) const;
  double log_sum() const { return log_sum_; }  // log(sum of exp(logits))

  // The `count` likeliest with finite logits, falling, the lower id first among equals.
  std::vector<TokenId> likeliest(size_t count) const;

 private:
  std::span<const float> logits_;
  double log_sum_ = 0;
};

}  // namespace evener::sample
