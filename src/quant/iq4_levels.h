#pragma once

#include <cstdint>

namespace evener::quant {

// What the sixteen codes of IQ4_NL and IQ4_XS stand for: close together around zero, where most
// weights are.
inline constexpr int8_t kIq4Levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                          1,    13,   25,  38,  53,  69,  89,  113};

}  // namespace evener::quant
