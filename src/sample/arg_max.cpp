#include "sample/arg_max.h"

#include <fmt/format.h>

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

Error no_finite_logit(std::string_view what, size_t index) {
  return Error{.code = Code::internal,
               .doing = "choose a token",
               .where = fmt::format("{} {}", what, index),
               .why = "the model gave no finite logit",
               .remedy = {}};
}

}  // namespace evener::sample
