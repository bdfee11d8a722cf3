// Packed Q2_K and Q3_K, kLanes outputs x 256 inputs: sixteen sub-blocks, two a quarter of a half.

// Q2_K. In bytes a lane:
//   0  scale, f16      2  minimum, f16, negated
//   4  sub-scales      [8 pairs of sub-blocks][lane][2]: in the lower, sub-minima in the upper four
//                      bits
//  20  codes           [2 halves][8 steps][lane][4 inputs]: quarters 0..3 rising
struct Q2K {
  static constexpr size_t kLaneBytes = 84;
  static constexpr bool kPacked = true;
  static constexpr size_t kSubInputs = 16;
  static constexpr size_t kPartSubs = 8;
  static constexpr size_t kCodeMax = 3;
  static constexpr bool kHasMins = true;
  static constexpr int kCodeStep = 1;
  static constexpr int kOffset = 0;
  using Codes = Bytes;
  const uint8_t* block;

  explicit Q2K(const void* p) : block(static_cast<const uint8_t*>(p)) {}

  EVENER_INLINE F32 scale() const {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(block));
  }
  EVENER_INLINE F32 min() const {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(block + 2 * kLanes));
  }
  EVENER_INLINE Pairs both(size_t pair) const {
    return Pairs::load_u8(block + (4 + 2 * pair) * kLanes);
  }
  EVENER_INLINE Pairs sub_scales(size_t pair) const {
    return {(Bytes{both(pair).v} & Bytes::splat(15)).v};
  }
  EVENER_INLINE Pairs sub_mins(size_t pair) const { return {(Bytes{both(pair).v} >> 4).v}; }
  EVENER_INLINE Scale sub_scale(size_t part, size_t sub) const {
    const Pairs pair = sub_scales(4 * part + sub / 2);
    return sub % 2 == 0 ? scale_of_first(pair) : scale_of_second(pair);
  }
  EVENER_INLINE Bytes codes(size_t part, size_t sub, size_t step) const {
    return two_bits(block + (20 + 32 * part) * kLanes, sub / 2, sub % 2 * 4 + step);
  }
};

// Q3_K. In bytes a lane:
//   0  scale, f16
//   2  sub-scales      [8 pairs of sub-blocks][lane][2], -32..31
//  18  lower two bits  as in Q2_K
//  82  third bits      [2 halves][4 steps][lane][4 inputs]: bit q is of quarter q and step s, bit
//                      4 + q of step s + 4
struct Q3K {
  static constexpr size_t kLaneBytes = 114;
  static constexpr bool kPacked = true;
  static constexpr size_t kSubInputs = 16;
  static constexpr size_t kPartSubs = 8;
  static constexpr size_t kCodeMax = 7;
  static constexpr bool kHasMins = false;
  static constexpr int kCodeStep = 1;
  static constexpr int kOffset = 4;
  using Codes = Bytes;
  const uint8_t* block;

  explicit Q3K(const void* p) : block(static_cast<const uint8_t*>(p)) {}

  EVENER_INLINE F32 scale() const {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(block));
  }
  EVENER_INLINE Pairs sub_scales(size_t pair) const {
    return Pairs::load_s8(block + (2 + 2 * pair) * kLanes);
  }
  EVENER_INLINE Scale sub_scale(size_t part, size_t sub) const {
    const Pairs pair = sub_scales(4 * part + sub / 2);
    return sub % 2 == 0 ? scale_of_first(pair) : scale_of_second(pair);
  }
  EVENER_INLINE Bytes codes(size_t part, size_t sub, size_t step) const {
    const size_t quarter = sub / 2;
    const int bit = int(sub % 2 * 4 + quarter);
    const Bytes bits = Bytes::load(block + (82 + 16 * part + 4 * step) * kLanes);
    const Bytes third = (bit < 2 ? bits << (2 - bit) : bits >> (bit - 2)) & Bytes::splat(4);
    return two_bits(block + (18 + 32 * part) * kLanes, quarter, sub % 2 * 4 + step) | third;
  }
};
