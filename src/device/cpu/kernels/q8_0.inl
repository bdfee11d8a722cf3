// Packed Q8_0, kLanes outputs x 32 inputs. In bytes a lane: scale, f16; codes [8 steps][lane][4].
struct Q8_0 {
  static constexpr size_t kLaneBytes = 34;
  static constexpr size_t kPanels = 1;
  static constexpr size_t kCodeMax = 128;

  struct Kind {
    using Codes = SignedCodes;
    static constexpr bool kHasMins = false;
    static constexpr int kOffset = kSignedOffset;
    static constexpr size_t kScales = 1;
  };
  const uint8_t* block;

  Q8_0(const void* p, size_t) : block(static_cast<const uint8_t*>(p)) {}

  EVENER_INLINE F32 scale(size_t) const {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(block));
  }
  EVENER_INLINE SignedCodes codes(size_t step) const {
    return SignedCodes::of(Bytes::load(block + (2 + 4 * step) * kLanes));
  }
};
