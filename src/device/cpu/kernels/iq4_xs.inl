// Packed IQ4_XS, kLanes outputs x 256 inputs. In bytes a lane:
//   0  scale, f16
//   2  sub-scales  [4 pairs of sub-blocks][lane][2], -32..31
//  10  codes       [8 sub-blocks][4 steps][lane][4 inputs]: step s in the lower, step s + 4 in the
//                  upper four bits
struct Iq4Xs {
  static constexpr size_t kLaneBytes = 138;
  static constexpr bool kPacked = true;
  static constexpr size_t kSubInputs = 32;
  static constexpr size_t kPartSubs = 2;
  static constexpr size_t kCodeMax = 127;
  static constexpr bool kHasMins = false;
  static constexpr int kCodeStep = 1;
  static constexpr int kOffset = kSignedOffset;
  using Codes = SignedCodes;
  const uint8_t* block;

  explicit Iq4Xs(const void* p) : block(static_cast<const uint8_t*>(p)) {}

  EVENER_INLINE F32 scale() const {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(block));
  }
  EVENER_INLINE Pairs sub_scales(size_t pair) const {
    return Pairs::load_s8(block + (2 + 2 * pair) * kLanes);
  }
  EVENER_INLINE Scale sub_scale(size_t part, size_t sub) const {
    return sub == 0 ? scale_of_first(sub_scales(part)) : scale_of_second(sub_scales(part));
  }
  EVENER_INLINE SignedCodes codes(size_t part, size_t sub, size_t step) const {
    const size_t at = 10 + 32 * part + 16 * sub + step % 4 * 4;
    const Bytes indices = four_bits(block + at * kLanes, step >= 4);
    return SignedCodes::of(look_up(Bytes::repeat_sixteen(codebooks.iq4), indices));
  }
};
