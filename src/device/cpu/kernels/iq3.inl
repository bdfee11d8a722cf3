// Packed IQ3_S and IQ3_XXS, kLanes outputs x 256 inputs: points of four, which are the inputs of a
// step; sub-blocks of 32.

// IQ3_S. In bytes a lane:
//   0  scale, f16
//   2  sub-scales s  [4 pairs of sub-blocks][lane]: four bits each, 2 s + 1 is meant
//   6  signs         [8 sub-blocks][lane][4]: four bits a step
//  38  indices       [64 steps][lanes in eights]: nine bits
// Coordinates are odd: code c stands for 2 c - 15, and all bits turned over for the negative.
struct Iq3S : PointFormat {
  static constexpr size_t kLaneBytes = 110;
  static constexpr size_t kSubInputs = 32;
  static constexpr size_t kPartSubs = 2;
  static constexpr size_t kCodeMax = 15;
  static constexpr int kCodeStep = 2;
  static constexpr int kOffset = 15;

  explicit Iq3S(const void* p) : PointFormat(p) {}

  EVENER_INLINE F32 scale() const { return half(); }
  EVENER_INLINE Pairs sub_scales(size_t pair) const { return nibble_scales(2 + pair); }
  EVENER_INLINE Scale sub_scale(size_t part, size_t sub) const {
    return odd_scale(nibble(2 + part, sub));
  }
  EVENER_INLINE Bytes codes(size_t part, size_t sub, size_t step) const {
    const size_t index = 2 * part + sub;
    const Bytes signs = as_bytes(word(6, index));
    const uint8_t* const indices = block + 38 * kLanes + (8 * index + step) * 9 * kLanes / 8;
    return (points<9>(codebooks.iq3_s, indices) ^ negative(signs, step)) & Bytes::splat(15);
  }
};

// IQ3_XXS. In bytes a lane:
//   0  scale, f16
//   2  words    [8 sub-blocks][lane]: 7 sign bits for two steps each, sub-scale s above, meaning
//               2 s + 1
//  34  indices  [64 steps][lane]
// Coordinates are even, and halved here.
struct Iq3Xxs : PointFormat {
  static constexpr size_t kLaneBytes = 98;
  static constexpr size_t kSubInputs = 32;
  static constexpr size_t kPartSubs = 1;
  static constexpr size_t kCodeMax = 63;
  static constexpr int kOffset = 32;

  explicit Iq3Xxs(const void* p) : PointFormat(p) {}

  EVENER_INLINE F32 scale() const { return half() * F32::splat(0.5f); }
  EVENER_INLINE Pairs sub_scales(size_t pair) const {
    return {odd_pair(word(2, 2 * pair) >> 28, word(2, 2 * pair + 1) >> 28).v};
  }
  EVENER_INLINE Scale sub_scale(size_t part, size_t) const {
    return odd_scale(word(2, part) >> 28);
  }
  EVENER_INLINE Bytes codes(size_t part, size_t, size_t step) const {
    const Bytes signs = even_signs(word(2, part));
    const uint8_t* const indices = block + (34 + 8 * part + step) * kLanes;
    return with_signs<kOffset>(points<8>(codebooks.iq3_xxs, indices), negative(signs, step));
  }
};
