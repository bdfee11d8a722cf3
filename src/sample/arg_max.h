#pragma once

#include <optional>
#include <span>

#include "tokenizer/token_id.h"

namespace evener::sample {

// The token with the largest finite logit, the lowest id among equals; none if no logit is finite.
std::optional<tokenizer::TokenId> arg_max(std::span<const float> logits);

}  // namespace evener::sample
