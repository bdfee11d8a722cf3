// Packed IQ2_XXS, IQ2_XS and IQ2_S, kLanes outputs x 256 inputs: points of eight, which are the
// inputs of two steps. Sub-scales s stand for 2 s + 1, coordinates for an eighth.
struct Iq2Format : SignedPointFormat<43, 107, 64, 1> {
  explicit Iq2Format(const void* p) : SignedPointFormat(p) {}

  EVENER_INLINE F32 scale() const { return half() * F32::splat(0.125f); }
};

// IQ2_XXS, sub-blocks of 32. In bytes a lane:
//   0  scale, f16
//   2  words    [8 sub-blocks][lane]: even signs, sub-scale above
//  34  indices  32 of eight bits
struct Iq2Xxs : Iq2Format {
  static constexpr size_t kLaneBytes = 66;
  static constexpr size_t kSubInputs = 32;
  static constexpr size_t kPartSubs = 1;

  Indices<8, 32> indices;

  explicit Iq2Xxs(const void* p) : Iq2Format(p), indices(block + 34 * kLanes) {}

  EVENER_INLINE Pairs sub_scales(size_t pair) const {
    return {odd_pair(word(2, 2 * pair) >> 28, word(2, 2 * pair + 1) >> 28).v};
  }
  EVENER_INLINE Scale sub_scale(size_t part, size_t) const {
    return odd_scale(word(2, part) >> 28);
  }
  EVENER_INLINE PointCodes codes(size_t part, size_t, size_t step) const {
    return {points(codebooks.iq2_xxs, indices, 4 * part + step / 2, step % 2),
            negative(even_signs(word(2, part)), step)};
  }
};

// IQ2_XS, sub-blocks of 16. In bytes a lane:
//   0  scale, f16
//   2  words       [8 pairs of sub-blocks][lane]: even signs, the first sub-scale above
//  34  sub-scales  [4 times two pairs][lane]: the second one of each pair, four bits
//  38  indices     32 of nine bits
struct Iq2Xs : Iq2Format {
  static constexpr size_t kLaneBytes = 74;
  static constexpr size_t kSubInputs = 16;
  static constexpr size_t kPartSubs = 4;

  Indices<9, 32> indices;

  explicit Iq2Xs(const void* p) : Iq2Format(p), indices(block + 38 * kLanes) {}

  EVENER_INLINE Pairs sub_scales(size_t pair) const {
    const Ints second = nibble(34 + pair / 2, pair % 2);
    return {odd_pair(word(2, pair) >> 28, second).v};
  }
  EVENER_INLINE Scale sub_scale(size_t part, size_t sub) const {
    if (sub % 2 == 0) return odd_scale(word(2, 2 * part + sub / 2) >> 28);
    return odd_scale(nibble(34 + part, sub / 2));
  }
  EVENER_INLINE PointCodes codes(size_t part, size_t sub, size_t step) const {
    const size_t pair = 2 * part + sub / 2;
    return {points(codebooks.iq2_xs, indices, 8 * part + 2 * sub + step / 2, step % 2),
            negative(even_signs(word(2, pair)), sub % 2 * 4 + step)};
  }
};

// IQ2_S, sub-blocks of 16. In bytes a lane:
//   0  scale, f16
//   2  sub-scales  [8 pairs of sub-blocks][lane]: four bits each
//  10  signs       [8 pairs][lane][4 inputs of a step]
//  42  indices     32 of ten bits
struct Iq2S : Iq2Format {
  static constexpr size_t kLaneBytes = 82;
  static constexpr size_t kSubInputs = 16;
  static constexpr size_t kPartSubs = 2;

  Indices<10, 32> indices;

  explicit Iq2S(const void* p) : Iq2Format(p), indices(block + 42 * kLanes) {}

  EVENER_INLINE Pairs sub_scales(size_t pair) const { return nibble_scales(2 + pair); }
  EVENER_INLINE Scale sub_scale(size_t part, size_t sub) const {
    return odd_scale(nibble(2 + part, sub));
  }
  EVENER_INLINE PointCodes codes(size_t part, size_t sub, size_t step) const {
    return {points(codebooks.iq2_s, indices, 4 * part + 2 * sub + step / 2, step % 2),
            negative(as_bytes(word(10, part)), sub % 2 * 4 + step)};
  }
};
