#pragma once

#include <bit>
#include <cstdint>

namespace evener {

// An 8-bit float of 4 exponent bits (bias 7) and 3 fraction bits, "e4m3fn", as f32. Exact; largest
// value 448, no infinity, codes 0x7f and 0xff are NaN. Source: OCP 8-bit floating point, OFP8.
constexpr float f8_e4m3_to_f32(uint8_t code) {
  const uint32_t sign = uint32_t{code & 0x80u} << 24;
  const uint32_t exponent = code >> 3 & 0xfu;
  const uint32_t fraction = code & 0x7u;
  if ((code & 0x7fu) == 0x7fu) return std::bit_cast<float>(sign | 0x7fc00000u);
  if (exponent == 0) {  // zero or subnormal: fraction times 2^-9, exact in f32
    return std::bit_cast<float>(std::bit_cast<uint32_t>(float(fraction) * 0x1p-9f) | sign);
  }
  return std::bit_cast<float>(sign | (exponent + 120) << 23 | fraction << 20);
}

}  // namespace evener
