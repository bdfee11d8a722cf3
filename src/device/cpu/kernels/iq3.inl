// Packed IQ3_S and IQ3_XXS, kLanes outputs x 256 inputs: points of four, which are the inputs of a
// step; sub-blocks of 32.

// IQ3_S. In bytes a lane:
//   0  scale, f16
//   2  sub-scales s  [4 pairs of sub-blocks][lane]: four bits each, 2 s + 1 is meant
//   6  signs         [8 sub-blocks][lane][4 inputs of a step]
//  38  indices       64 of nine bits
// Coordinates are odd.
struct Iq3S : SignedPointFormat<15, 15, 15, 2> {
  static constexpr size_t kLaneBytes = 110;
  static constexpr size_t kSubInputs = 32;
  static constexpr size_t kPartSubs = 2;
  Indices<9, 64> indices;

  explicit Iq3S(const void* p) : SignedPointFormat(p), indices(block + 38 * kLanes) {}

  EVENER_INLINE F32 scale() const { return half(); }
  EVENER_INLINE Pairs sub_scales(size_t pair) const { return nibble_scales(2 + pair); }
  EVENER_INLINE Scale sub_scale(size_t part, size_t sub) const {
    return odd_scale(nibble(2 + part, sub));
  }
  EVENER_INLINE PointCodes codes(size_t part, size_t sub, size_t step) const {
    const size_t index = 2 * part + sub;
    return {points(codebooks.iq3_s, indices, 8 * index + step),
            negative(as_bytes(word(6, index)), step)};
  }
};

// IQ3_XXS. In bytes a lane:
//   0  scale, f16
//   2  words    [8 sub-blocks][lane]: even signs, sub-scale s above, meaning 2 s + 1
//  34  indices  64 of eight bits
// Coordinates are even, and halved here.
struct Iq3Xxs : SignedPointFormat<31, 63, 32, 1> {
  static constexpr size_t kLaneBytes = 98;
  static constexpr size_t kSubInputs = 32;
  static constexpr size_t kPartSubs = 1;
  Indices<8, 64> indices;

  explicit Iq3Xxs(const void* p) : SignedPointFormat(p), indices(block + 34 * kLanes) {}

  EVENER_INLINE F32 scale() const { return half() * F32::splat(0.5f); }
  EVENER_INLINE Pairs sub_scales(size_t pair) const {
    return {odd_pair(word(2, 2 * pair) >> 28, word(2, 2 * pair + 1) >> 28).v};
  }
  EVENER_INLINE Scale sub_scale(size_t part, size_t) const {
    return odd_scale(word(2, part) >> 28);
  }
  EVENER_INLINE PointCodes codes(size_t part, size_t, size_t step) const {
    return {points(codebooks.iq3_xxs, indices, 8 * part + step),
            negative(even_signs(word(2, part)), step)};
  }
};
