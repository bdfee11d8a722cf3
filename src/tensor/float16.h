#pragma once

#include <bit>
#include <cstdint>

namespace evener {

// A half (IEEE binary16) as f32. Exact for every bit pattern; a NaN stays one and becomes quiet.
constexpr float f16_to_f32(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16;
  const uint32_t exponent = half >> 10 & 0x1fu;
  const uint32_t fraction = half & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: fraction times 2^-24, exact in f32
    return std::bit_cast<float>(std::bit_cast<uint32_t>(float(fraction) * 0x1p-24f) | sign);
  }
  if (exponent == 0x1f) {
    const uint32_t quiet = fraction != 0 ? 0x400000u : 0;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | fraction << 13);
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

// The nearest half, ties to even; too large becomes infinite, a NaN stays one.
constexpr uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = uint16_t(bits >> 16 & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return uint16_t(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
  if (magnitude >= 0x477ff000u) return uint16_t(sign | 0x7c00u);  // 65520 and up
  if (magnitude < 0x38800000u) {  // below 2^-14: in steps of 2^-24, which f32 addition rounds to
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f)));
  }
  const uint32_t odd = magnitude >> 13 & 1u;
  return uint16_t(sign | ((magnitude + 0xfffu + odd - (uint32_t{112} << 23)) >> 13));
}

// A bfloat16 as f32: its upper half.
constexpr float bf16_to_f32(uint16_t half) { return std::bit_cast<float>(uint32_t{half} << 16); }

// The nearest bfloat16, ties to even; too large becomes infinite, a NaN stays one.
constexpr uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return uint16_t(bits >> 16 | 0x40u);
  return uint16_t((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace evener
