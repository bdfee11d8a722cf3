#pragma once

#include <cstdint>

namespace evener::quant {

// The sixteen values of a 4-bit float with two exponent bits and one fraction bit (E2M1), doubled
// so that they are whole. Code 8, the negative zero, decodes as +0.
inline constexpr int8_t kFp4Doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

}  // namespace evener::quant
