// Packed Q8_0, kLanes outputs x 32 inputs. In bytes a lane: scale, f16; codes [8 steps][lane][4].
struct Q8_0 {
  static constexpr size_t kLaneBytes = 34;
  static constexpr size_t kCodeMax = 128;

  struct Kind {
    using Codes = SignedCodes;
    static constexpr bool kSigned = true;
    static constexpr bool kHasMins = false;
    static constexpr int kOffsetLog2 = kSignedOffsetLog2;
  };
  const uint8_t* block;

  explicit Q8_0(const void* p) : block(static_cast<const uint8_t*>(p)) {}

  EVENER_INLINE F32 scale() const {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(block));
  }
  EVENER_INLINE SignedCodes codes(size_t step) const {
    return SignedCodes::load(block + (2 + 4 * step) * kLanes);
  }
};
