// Halves and 8-bit floats, bit by bit: what drivers do with them differs in rounding and in numbers
// below the normal ones.

float half_value(uint h) {
  const uint fraction = h & 0x3ffu;
  const uint exponent = (h >> 10) & 31u;
  const float size = exponent == 0u ? float(fraction) * 5.9604644775390625e-8
      : uintBitsToFloat((exponent == 31u ? 0x7f800000u : (exponent + 112u) << 23) | fraction << 13);
  return (h & 0x8000u) != 0u ? -size : size;
}

// To nearest, of two equally near ones to the even one.
uint half_bits(float x) {
  const uint bits = floatBitsToUint(x);
  const uint sign = (bits >> 16) & 0x8000u;
  const uint size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return sign | 0x7e00u;
  if (size >= 0x477ff000u) return sign | 0x7c00u;
  if (size < 0x38800000u) return sign | uint(roundEven(uintBitsToFloat(size) * 16777216.0));
  return sign | (size - 0x38000000u + 0xfffu + ((size >> 13) & 1u)) >> 13;
}

float fp8_value(uint b) {
  const uint fraction = b & 7u;
  const uint exponent = (b >> 3) & 15u;
  float size = exponent == 0u ? float(fraction) * 0.001953125
                              : uintBitsToFloat((exponent + 120u) << 23 | fraction << 20);
  if ((b & 127u) == 127u) size = uintBitsToFloat(0x7fc00000u);
  return (b & 128u) != 0u ? -size : size;
}

// To nearest even; above 448 it is 448, what is no finite number is NaN.
uint fp8_bits(float x) {
  const uint bits = floatBitsToUint(x);
  const uint sign = (bits >> 24) & 128u;
  const uint size = bits & 0x7fffffffu;
  if (size >= 0x7f800000u) return sign | 127u;
  if (size >= 0x43e00000u) return sign | 126u;
  if (size < 0x3c800000u) return sign | uint(roundEven(uintBitsToFloat(size) * 512.0));
  return sign | min((size - 0x3c000000u + 0x7ffffu + ((size >> 20) & 1u)) >> 20, 126u);
}
