// Packed Q2_0 and Q1_0.

// Q2_0, kLanes outputs x 64 inputs. In bytes a lane: scale, f16; codes [2 panels][2 steps][lane]
// [4 inputs]: bits 2 i, 2 i + 1 of step s are of step 4 s + i.
struct Q2_0 {
  static constexpr size_t kLaneBytes = 18;
  static constexpr size_t kPanels = 2;
  static constexpr size_t kCodeMax = 3;

  struct Kind {
    using Codes = Bytes;
    static constexpr bool kHasMins = false;
    static constexpr int kOffset = 1;
    static constexpr size_t kScales = 1;
  };
  const uint8_t* block;
  size_t panel;

  Q2_0(const void* p, size_t index) : block(static_cast<const uint8_t*>(p)), panel(index) {}

  EVENER_INLINE F32 scale(size_t) const {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(block));
  }
  EVENER_INLINE Bytes codes(size_t step) const {
    return two_bits(block + (2 + 8 * panel) * kLanes, step % 4, step / 4);
  }
};

// Q1_0, kLanes outputs x 128 inputs. In bytes a lane: scale, f16; bits [4 panels][lane][4 inputs]:
// bit s is of step s.
struct Q1_0 {
  static constexpr size_t kLaneBytes = 18;
  static constexpr size_t kPanels = 4;
  static constexpr size_t kCodeMax = 2;

  struct Kind {
    using Codes = Bytes;
    static constexpr bool kHasMins = false;
    static constexpr int kOffset = 1;  // codes are 0 and 2
    static constexpr size_t kScales = 1;
  };
  const uint8_t* block;
  size_t panel;

  Q1_0(const void* p, size_t index) : block(static_cast<const uint8_t*>(p)), panel(index) {}

  EVENER_INLINE F32 scale(size_t) const {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(block));
  }
  EVENER_INLINE Bytes codes(size_t step) const {
    const Bytes bits = Bytes::load(block + (2 + 4 * panel) * kLanes);
    const int bit = int(step);
    return (bit < 1 ? bits << 1 : bits >> (bit - 1)) & Bytes::splat(2);
  }
};
