#pragma once

#include <stdint.h>

// What the codes of some formats stand for, as their kernels want it: bytes that are not negative
// but for IQ4, without sign (IQ2, IQ3) or with a constant that must be taken off again.
namespace evener::device::cpu {

struct Codebooks {
  int8_t iq4[16];           // as they are
  uint8_t fp4[16];          // twice the 4-bit float, plus 12
  uint8_t iq3_s[512][4];    // coordinate
  uint8_t iq3_xxs[256][4];  // coordinate / 2
  uint8_t iq2_xxs[256][8];  // coordinate
  uint8_t iq2_xs[512][8];   // likewise
  uint8_t iq2_s[1024][8];   // likewise
  uint8_t iq1[2048][8];     // 8 coordinate + 1 + 16
  uint8_t behind[16];       // kernels load sixteen bytes around a point
};

extern const Codebooks codebooks;

}  // namespace evener::device::cpu
