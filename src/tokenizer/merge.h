#pragma once

#include <cstdint>

#include "tokenizer/token_id.h"

namespace evener::tokenizer {

// What two neighbouring tokens become. The lowest rank goes first, of equal ones the leftmost.
struct Merge {
  int32_t rank = 0;
  TokenId id = -1;
};

}  // namespace evener::tokenizer
