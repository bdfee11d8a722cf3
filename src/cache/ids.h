#pragma once

#include <cstdint>

namespace evener::cache {

// One stream of tokens, named by whoever starts it. 0 names none.
using SequenceId = uint64_t;

using TokenId = int32_t;

}  // namespace evener::cache
