// Packed IQ1_S and IQ1_M, kLanes outputs x 256 inputs: points of eight, which are the inputs of two
// steps. A weight is a coordinate plus or minus 1/8, and codes count eighths. Sub-scales s stand
// for 2 s + 1.
struct Iq1Format : PointFormat {
  static constexpr size_t kCodeMax = 25;
  static constexpr int kOffset = 16;

  using Codes = Bytes;
  Indices<11, 32> indices;

  Iq1Format(const void* p, size_t indices_at)
      : PointFormat(p), indices(block + indices_at * kLanes) {}

  EVENER_INLINE F32 scale() const { return half() * F32::splat(0.125f); }

  // Half of a point. The codebook has plus 1/8; two eighths go off in the lanes where `minus` is
  // 255.
  EVENER_INLINE Bytes shifted_points(size_t point, size_t half, Bytes minus) const {
    return points(codebooks.iq1, indices, point, half) - (minus & Bytes::splat(2));
  }
};

// IQ1_S, sub-blocks of 32. In bytes a lane:
//   0  scale, f16
//   2  sub-scales  [4 pairs of sub-blocks][lane]: three bits, and the fourth if the shift is
//             negative
//   6  indices     32 of eleven bits
struct Iq1S : Iq1Format {
  static constexpr size_t kLaneBytes = 50;
  static constexpr size_t kSubInputs = 32;
  static constexpr size_t kPartSubs = 2;

  explicit Iq1S(const void* p) : Iq1Format(p, 6) {}

  EVENER_INLINE Ints three_bits(size_t pair, size_t index) const {
    return nibble(2 + pair, index) & Ints::splat(7);
  }
  EVENER_INLINE Pairs sub_scales(size_t pair) const {
    return {odd_pair(three_bits(pair, 0), three_bits(pair, 1)).v};
  }
  EVENER_INLINE Scale sub_scale(size_t part, size_t sub) const {
    return odd_scale(three_bits(part, sub));
  }
  EVENER_INLINE Bytes codes(size_t part, size_t sub, size_t step) const {
    return shifted_points(8 * part + 4 * sub + step / 2, step % 2,
                          lanes_where_set(nibble(2 + part, sub), 3));
  }
};

// IQ1_M, sub-blocks of 16. In bytes a lane:
//   0  scale, f16
//   2  sub-scales  [4 quarters][lane]: three bits for each of the four sub-blocks
//  10  shifts      [4 quarters][lane]: a bit for each of the eight points, set if negative
//  14  indices     32 of eleven bits
struct Iq1M : Iq1Format {
  static constexpr size_t kLaneBytes = 58;
  static constexpr size_t kSubInputs = 16;
  static constexpr size_t kPartSubs = 4;

  explicit Iq1M(const void* p) : Iq1Format(p, 14) {}

  EVENER_INLINE Ints three_bits(size_t quarter, size_t sub) const {
    const Ints all = Ints::load_u16(block + (2 + 2 * quarter) * kLanes);
    return (all >> int(3 * sub)) & Ints::splat(7);
  }
  EVENER_INLINE Pairs sub_scales(size_t pair) const {
    const size_t sub = pair % 2 * 2;
    return {odd_pair(three_bits(pair / 2, sub), three_bits(pair / 2, sub + 1)).v};
  }
  EVENER_INLINE Scale sub_scale(size_t part, size_t sub) const {
    return odd_scale(three_bits(part, sub));
  }
  EVENER_INLINE Bytes codes(size_t part, size_t sub, size_t step) const {
    const size_t index = 4 * sub + step;
    const Ints shifts = Ints::load_u8(block + (10 + part) * kLanes);
    return shifted_points(8 * part + index / 2, index % 2, lanes_where_set(shifts, int(index / 2)));
  }
};
