// Packed Q4_K and Q5_K, kLanes outputs x 256 inputs. In bytes a lane:
//   0  scale, f16      2  minimum, f16, negated
//   4  sub-scales      [4 pairs of sub-blocks][lane][2], 0..63
//  12  sub-minima      likewise
//  20  codes           [4 pairs][8 steps][lane][4 inputs]: the pair's first sub-block in the lower,
//                      the second in the upper four bits
// 148  fifth bits      [8 steps][lane][4 inputs], of Q5_K alone: bit s is of sub-block s
struct Q4K {
  static constexpr size_t kLaneBytes = 148;
  static constexpr bool kPacked = true;
  static constexpr size_t kSubInputs = 32;
  static constexpr size_t kPartSubs = 2;  // sub-blocks between which codes are found differently
  static constexpr size_t kCodeMax = 15;
  static constexpr bool kHasMins = true;
  static constexpr int kCodeStep = 1;
  static constexpr int kOffset = 0;
  using Codes = Bytes;
  const uint8_t* block;

  explicit Q4K(const void* p) : block(static_cast<const uint8_t*>(p)) {}

  EVENER_INLINE F32 scale() const {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(block));
  }
  EVENER_INLINE F32 min() const {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(block + 2 * kLanes));
  }
  EVENER_INLINE Pairs sub_scales(size_t pair) const {
    return Pairs::load_u8(block + (4 + 2 * pair) * kLanes);
  }
  EVENER_INLINE Pairs sub_mins(size_t pair) const {
    return Pairs::load_u8(block + (12 + 2 * pair) * kLanes);
  }
  EVENER_INLINE Scale sub_scale(size_t part, size_t sub) const {
    return sub == 0 ? scale_of_first(sub_scales(part)) : scale_of_second(sub_scales(part));
  }
  EVENER_INLINE Bytes codes(size_t part, size_t sub, size_t step) const {
    const Bytes both = Bytes::load(block + (20 + 32 * part + 4 * step) * kLanes);
    return (sub == 0 ? both : both >> 4) & Bytes::splat(15);
  }
};

struct Q5K : Q4K {
  static constexpr size_t kLaneBytes = 180;
  static constexpr size_t kPartSubs = 8;
  static constexpr size_t kCodeMax = 31;

  explicit Q5K(const void* p) : Q4K(p) {}

  EVENER_INLINE Scale sub_scale(size_t, size_t sub) const {
    return Q4K::sub_scale(sub / 2, sub % 2);
  }
  EVENER_INLINE Bytes codes(size_t, size_t sub, size_t step) const {
    const int bit = int(sub);
    const Bytes bits = Bytes::load(block + (148 + 4 * step) * kLanes);
    const Bytes fifth = (bit < 4 ? bits << (4 - bit) : bits >> (bit - 4)) & Bytes::splat(16);
    return Q4K::codes(sub / 2, sub % 2, step) | fifth;
  }
};
