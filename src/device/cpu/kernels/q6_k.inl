// Packed Q6_K, kLanes outputs x 256 inputs. In bytes a lane:
//   0  lower four bits  [2 halves][16 steps][lane][4 inputs]: quarters 0, 1 of the half in the
//   lower,
//                       2, 3 in the upper four bits, eight steps a quarter
// 128  upper two bits   [2 halves][8 steps][lane][4 inputs]: quarters 0..3 rising
// 192  sub-scales       [8 pairs of sub-blocks][lane][2], signed
// 208  scale, f32
struct Q6K {
  static constexpr size_t kLaneBytes = 212;
  static constexpr bool kPacked = true;
  static constexpr size_t kSubInputs = 16;
  static constexpr size_t kPartSubs = 8;
  static constexpr size_t kCodeMax = 63;
  static constexpr bool kHasMins = false;
  static constexpr int kCodeStep = 1;
  static constexpr int kOffset = 32;
  using Codes = Bytes;
  const uint8_t* block;

  explicit Q6K(const void* p) : block(static_cast<const uint8_t*>(p)) {}

  EVENER_INLINE F32 scale() const {
    return F32::load(reinterpret_cast<const float*>(block + 208 * kLanes));
  }
  EVENER_INLINE Pairs sub_scales(size_t pair) const {
    return Pairs::load_s8(block + (192 + 2 * pair) * kLanes);
  }
  EVENER_INLINE Scale sub_scale(size_t part, size_t sub) const {
    const Pairs pair = sub_scales(4 * part + sub / 2);
    return sub % 2 == 0 ? scale_of_first(pair) : scale_of_second(pair);
  }
  EVENER_INLINE Bytes codes(size_t part, size_t sub, size_t step) const {
    const size_t quarter = sub / 2;
    const size_t place = sub % 2 * 4 + step;  // among the eight steps of a quarter
    const Bytes low = Bytes::load(block + (64 * part + 32 * (quarter % 2) + 4 * place) * kLanes);
    const Bytes high = Bytes::load(block + (128 + 32 * part + 4 * place) * kLanes);
    const Bytes low_bits = (quarter < 2 ? low : low >> 4) & Bytes::splat(15);
    const int shift = 2 * int(quarter) - 4;  // bits 2 q, 2 q + 1 go to bits 4, 5
    const Bytes high_bits = shift < 0 ? high << -shift : high >> shift;
    return low_bits | (high_bits & Bytes::splat(48));
  }
};
