#include "sample/arg_max.h"

#include <cfloat>
#include <cstddef>
#include <limits>

namespace evener::sample {

std::optional<tokenizer::TokenId> arg_max(std::span<const float> logits) {
  std::optional<tokenizer::TokenId> best;
  float best_logit = -std::numeric_limits<float>::infinity();
  for (size_t id = 0; id < logits.size(); ++id) {
    if (!(logits[id] > best_logit) || logits[id] > FLT_MAX) continue;  // NaN fails the first test
    best_logit = logits[id];
    best = static_cast<tokenizer::TokenId>(id);
  }
  return best;
}

}  // namespace evener::sample
