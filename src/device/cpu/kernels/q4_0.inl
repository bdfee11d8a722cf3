// Packed formats of 32 inputs in which a code is four or five bits: Q4_0, Q4_1, Q5_0, Q5_1. In
// bytes a lane: scale, f16; minimum, f16 (Q4_1, Q5_1); fifth bits (Q5_0, Q5_1) [lane][4 inputs of a
// step]: bit s is of step s; codes [4 steps][lane][4 inputs]: step s in the lower, step s + 4 in
// the upper four bits.
template <bool has_min, bool has_fifth>
struct SmallBlock {
  static constexpr size_t kMinAt = 2;
  static constexpr size_t kFifthAt = has_min ? 4 : 2;
  static constexpr size_t kCodesAt = kFifthAt + (has_fifth ? 4 : 0);
  static constexpr size_t kLaneBytes = kCodesAt + 16;
  static constexpr size_t kPanels = 1;
  static constexpr size_t kCodeMax = has_fifth ? 31 : 15;

  struct Kind {
    using Codes = Bytes;
    static constexpr bool kHasMins = has_min;
    // Without a minimum a code c stands for c - 16 or c - 8.
    static constexpr int kOffset = has_min ? 0 : has_fifth ? 16 : 8;
    static constexpr size_t kScales = 1;
  };
  const uint8_t* block;

  SmallBlock(const void* p, size_t) : block(static_cast<const uint8_t*>(p)) {}

  EVENER_INLINE F32 scale(size_t) const {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(block));
  }
  EVENER_INLINE F32 min() const {
    return F32::load_f16(reinterpret_cast<const uint16_t*>(block + kMinAt * kLanes));
  }
  EVENER_INLINE Bytes codes(size_t step) const {
    const Bytes both = Bytes::load(block + (kCodesAt + step % 4 * 4) * kLanes);
    const Bytes low = (step < 4 ? both : both >> 4) & Bytes::splat(15);
    if constexpr (!has_fifth) return low;
    const int bit = int(step);
    const Bytes bits = Bytes::load(block + kFifthAt * kLanes);
    return low | ((bit < 4 ? bits << (4 - bit) : bits >> (bit - 4)) & Bytes::splat(16));
  }
};

using Q4_0 = SmallBlock<false, false>;
using Q4_1 = SmallBlock<true, false>;
using Q5_0 = SmallBlock<false, true>;
using Q5_1 = SmallBlock<true, true>;
