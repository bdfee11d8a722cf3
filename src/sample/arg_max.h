#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "tokenizer/token_id.h"

namespace evener::sample {

// The token with the largest finite logit, the lowest id among equals; none if no logit is finite.
std::optional<tokenizer::TokenId> arg_max(std::span<const float> logits);

// What to say where there is none: "generated token", 7.
Error no_finite_logit(std::string_view what, size_t index);

}  // namespace evener::sample
