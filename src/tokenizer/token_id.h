#pragma once

#include <cstdint>

namespace evener::tokenizer {

// Index of a token in its vocabulary. Negative values are never valid.
using TokenId = int32_t;

}  // namespace evener::tokenizer
