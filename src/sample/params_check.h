#pragma once

#include <cstddef>

#include "base/error.h"
#include "sample/params.h"

namespace evener::sample {

// Bounds on what a request may ask for, so that no one token costs more than reading the vocabulary
// a few times.
inline constexpr size_t kLogitBiasesMax = 1024;
inline constexpr size_t kDryBreakersMax = 64;
inline constexpr size_t kDryBreakerBytesMax = 128;

// Error: invalid_argument; `where` is the field's name, `why` its range and value.
Status check(const Params& params, size_t vocab_size);

}  // namespace evener::sample
