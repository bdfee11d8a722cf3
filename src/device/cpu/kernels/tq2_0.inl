// Packed TQ2_0 and TQ1_0, kLanes outputs x 256 inputs. In bytes a lane: scale, f16; codes [2
// halves] [8 steps][lane][4 inputs]: quarters 0..3 rising. TQ1_0 is 54 bytes in a file, digits to
// base 3 that only multiplications could take apart.
struct Tq2_0 {
  static constexpr size_t kLaneBytes = 66;
  static constexpr bool kPacked = true;
  static constexpr size_t kSubInputs = 32;
  static constexpr size_t kPartSubs = 4;
  static constexpr size_t kCodeMax = 3;
  static constexpr bool kHasMins = false;
  static constexpr int kCodeStep = 1;
  static constexpr int kOffset = 1;
  using Codes = Bytes;
  const uint8_t* block;

  explicit Tq2_0(const void* p) : block(static_cast<const uint8_t*>(p)) {}

  EVENER_INLINE F32 scale() const {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(block));
  }
  EVENER_INLINE Pairs sub_scales(size_t) const { return {Ints::splat(0x00010001).v}; }
  EVENER_INLINE Scale sub_scale(size_t, size_t) const { return scale_of(Ints::splat(1)); }
  EVENER_INLINE Bytes codes(size_t part, size_t sub, size_t step) const {
    return two_bits(block + (2 + 32 * part) * kLanes, sub, step);
  }
};
