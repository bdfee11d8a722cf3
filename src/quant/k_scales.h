#pragma once

#include <cstddef>
#include <cstdint>

namespace evener::quant {

// The 6-bit scale and minimum of one of the eight sub-blocks of Q4_K and Q5_K, from 12 bytes:
//
//   byte i      bits 0..5 scale i, bits 6..7 upper bits of scale i + 4          i in 0..3
//   byte 4 + i  bits 0..5 minimum i, bits 6..7 upper bits of minimum i + 4
//   byte 8 + i  bits 0..3 lower bits of scale i + 4, bits 4..7 of minimum i + 4
struct ScaleAndMin {
  uint8_t scale;
  uint8_t min;
};

constexpr ScaleAndMin k_scale_and_min(const uint8_t (&packed)[12], size_t sub_block) {
  if (sub_block < 4) {
    return {uint8_t(packed[sub_block] & 63), uint8_t(packed[sub_block + 4] & 63)};
  }
  const uint8_t low = packed[sub_block + 4];
  return {uint8_t((low & 15) | (packed[sub_block - 4] >> 6 << 4)),
          uint8_t((low >> 4) | (packed[sub_block] >> 6 << 4))};
}

// Its inverse, into bytes that were 0.
constexpr void put_k_scale_and_min(uint8_t (&packed)[12], size_t sub_block, ScaleAndMin values) {
  const auto put = [&](size_t byte, int bits) { packed[byte] = uint8_t(packed[byte] | bits); };
  if (sub_block < 4) {
    put(sub_block, values.scale);
    put(sub_block + 4, values.min);
    return;
  }
  put(sub_block + 4, (values.scale & 15) | (values.min & 15) << 4);
  put(sub_block - 4, values.scale >> 4 << 6);
  put(sub_block, values.min >> 4 << 6);
}

}  // namespace evener::quant
