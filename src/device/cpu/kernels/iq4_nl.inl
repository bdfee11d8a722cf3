// Packed formats whose 4-bit codes look their value up among sixteen: IQ4_NL, MXFP4, NVFP4.

// IQ4_NL, kLanes outputs x 32 inputs. In bytes a lane: scale, f16; codes as in Q4_0.
struct Iq4Nl {
  static constexpr size_t kLaneBytes = 18;
  static constexpr size_t kPanels = 1;
  static constexpr size_t kCodeMax = 127;

  struct Kind {
    using Codes = SignedCodes;
    static constexpr bool kHasMins = false;
    static constexpr int kOffset = kSignedOffset;
    static constexpr size_t kScales = 1;
  };
  const uint8_t* block;

  Iq4Nl(const void* p, size_t) : block(static_cast<const uint8_t*>(p)) {}

  EVENER_INLINE F32 scale(size_t) const {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(block));
  }
  EVENER_INLINE SignedCodes codes(size_t step) const {
    const Bytes indices = four_bits(block + (2 + step % 4 * 4) * kLanes, step >= 4);
    return SignedCodes::of(look_up(Bytes::repeat_sixteen(codebooks.iq4), indices));
  }
};

// MXFP4, kLanes outputs x 32 inputs. In bytes a lane: exponent; codes as in Q4_0. Values are twice
// the 4-bit floats, and the scale, 2^(exponent - 128), is half the standard's.
struct Mxfp4 {
  static constexpr size_t kLaneBytes = 17;
  static constexpr size_t kPanels = 1;
  static constexpr size_t kCodeMax = 24;

  struct Kind {
    using Codes = Bytes;
    static constexpr bool kHasMins = false;
    static constexpr int kOffset = 12;
    static constexpr size_t kScales = 1;
  };
  const uint8_t* block;

  Mxfp4(const void* p, size_t) : block(static_cast<const uint8_t*>(p)) {}

  // Below exponent 2 the float is subnormal: 1 or 2 times 2^-128.
  EVENER_INLINE F32 scale(size_t) const {
    const Ints exponents = Ints::load_u8(block);
    const Ints normal = (exponents - Ints::splat(1)) << 23;
    return bits_as_f32(max(normal, (exponents + Ints::splat(1)) << 21));
  }
  EVENER_INLINE Bytes codes(size_t step) const {
    const Bytes indices = four_bits(block + (1 + step % 4 * 4) * kLanes, step >= 4);
    return look_up(Bytes::repeat_sixteen(codebooks.fp4), indices);
  }
};

// NVFP4, kLanes outputs x 64 inputs. In bytes a lane: scales of the four sub-blocks of 16, E4M3
// without sign or NaN; codes [4 sub-blocks][2 steps][lane][4 inputs]: step s in the lower, step s +
// 2 in the upper four bits. Values as in MXFP4.
struct Nvfp4 {
  static constexpr size_t kLaneBytes = 36;
  static constexpr size_t kPanels = 2;
  static constexpr size_t kCodeMax = 24;

  struct Kind {
    using Codes = Bytes;
    static constexpr bool kHasMins = false;
    static constexpr int kOffset = 12;
    static constexpr size_t kScales = 2;
  };
  const uint8_t* block;
  size_t panel;

  Nvfp4(const void* p, size_t index) : block(static_cast<const uint8_t*>(p)), panel(index) {}

  EVENER_INLINE F32 scale(size_t index) const {
    return load_half_e4m3(block + (2 * panel + index) * kLanes);
  }
  EVENER_INLINE Bytes codes(size_t step) const {
    const size_t at = 4 + 16 * panel + step / 4 * 8 + step % 2 * 4;
    const Bytes indices = four_bits(block + at * kLanes, step % 4 >= 2);
    return look_up(Bytes::repeat_sixteen(codebooks.fp4), indices);
  }
};
