#include "sample/arg_max.h"

#include <fmt/format.h>

#include "tensor/arg_max.h"

namespace evener::sample {

std::optional<tokenizer::TokenId> arg_max(std::span<const float> logits) {
  const auto best = evener::arg_max(logits);
  if (!best) return {};
  return static_cast<tokenizer::TokenId>(*best);
}

Error no_finite_logit(std::string_view what, size_t index) {
  return Error{.code = Code::internal,
               .doing = "choose a token",
               .where = fmt::format("{} {}", what, index),
               .why = "the model gave no finite logit",
               .remedy = {}};
}

}  // namespace evener::sample
