// Codes of two and of four bits in a byte.

// The upper or the lower four bits of each byte.
EVENER_INLINE inline Bytes four_bits(const uint8_t* both, bool upper) {
  const Bytes bytes = Bytes::load(both);
  return (upper ? bytes >> 4 : bytes) & Bytes::splat(15);
}

// The two bits of quarter `quarter` in a half's eight steps of bytes.
EVENER_INLINE inline Bytes two_bits(const uint8_t* half, size_t quarter, size_t place) {
  return (Bytes::load(half + 4 * place * kLanes) >> int(2 * quarter)) & Bytes::splat(3);
}
