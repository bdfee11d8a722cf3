#pragma once

#include <cstddef>

#include "base/error.h"
#include "engine/generation.h"

namespace evener::engine {

inline constexpr size_t kStopTextsMax = 64;
inline constexpr size_t kStopTextBytesMax = 4096;
inline constexpr size_t kStopTokensMax = 1024;
inline constexpr size_t kTopLogprobsMax = 128;

struct RequestLimits {
  size_t vocab_size = 0;
  size_t admissible_tokens = 0;
};

// Whether the engine can run it. Errors: invalid_argument, `where` naming the field;
// context_overflow, `why` in the words that clients look for (reference/serving/api.md 10).
Status check(const GenerationRequest& request, const RequestLimits& limits);

}  // namespace evener::engine
