// Packed formats whose codes name points of a codebook: IQ1, IQ2, IQ3. An index is looked up with a
// load of its own, which is what their speed with few rows hangs on, and gathering instructions are
// slower yet. Indices of eight lanes lie one behind the other, lowest bit first.
template <size_t bits>
struct EightIndices {
  uint64_t first;  // all bits but of the last lanes
  uint64_t last;

  explicit EightIndices(const uint8_t* p) {
    memcpy(&first, p, 8);
    memcpy(&last, p + bits - 8, 8);
  }
  // Turning a register takes one instruction, shifting it two.
  template <class Lane>
  EVENER_INLINE size_t operator[](Lane) const {
    constexpr size_t kLow = Lane() * bits;
    constexpr uint64_t kMask = (uint64_t{1} << bits) - 1;
    if constexpr (kLow + bits <= 64) {
      return turned<kLow>(first) & kMask;
    } else {
      return turned<kLow - 8 * (bits - 8)>(last) & kMask;
    }
  }

 private:
  template <size_t n>
  EVENER_INLINE static uint64_t turned(uint64_t x) {
    return n == 0 ? x : x >> n | x << (64 - n);
  }
};

// Half of them are loaded one by one, half taken from a register: the processor's loads and its
// arithmetic are then busy alike.
template <>
struct EightIndices<8> {
  const uint8_t* p;
  uint32_t last_four;

  explicit EightIndices(const uint8_t* indices) : p(indices) { memcpy(&last_four, p + 4, 4); }
  template <class Lane>
  EVENER_INLINE size_t operator[](Lane) const {
    if constexpr (Lane() < 4) {
      return p[Lane()];
    } else {
      return last_four >> (8 * (Lane() - 4)) & 255;
    }
  }
};

// Sixteen bytes that have `point` at place `place` of them: with a blend this is the cheapest way
// of putting points side by side. Other parts of the codebooks lie before and behind the book.
template <size_t size>
EVENER_INLINE inline __m128i around(const uint8_t (&point)[size], size_t place) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(point - place));
}

// Points of four coordinates of lanes `lane` to `lane` + 3.
template <size_t lane, size_t bits, size_t size>
EVENER_INLINE inline __m128i four_points(const uint8_t (&book)[size][4],
                                         const EightIndices<bits>& i) {
  const __m128i first = around(book[i[Constant<lane>()]], 0);
  const __m128i two = _mm_blend_epi32(first, around(book[i[Constant<lane + 1>()]], 4), 2);
  const __m128i three = _mm_blend_epi32(two, around(book[i[Constant<lane + 2>()]], 8), 4);
  return _mm_blend_epi32(three, around(book[i[Constant<lane + 3>()]], 12), 8);
}

// Points of eight coordinates of lanes `lane` and `lane` + 1.
template <size_t lane, size_t bits, size_t size>
EVENER_INLINE inline __m128i two_points(const uint8_t (&book)[size][8],
                                        const EightIndices<bits>& i) {
  return _mm_blend_epi32(around(book[i[Constant<lane>()]], 0),
                         around(book[i[Constant<lane + 1>()]], 8), 12);
}

// Points of four coordinates: a step.
template <size_t bits, size_t size>
EVENER_INLINE inline Bytes points(const uint8_t (&book)[size][4], const uint8_t* indices) {
  return from_eights([&](size_t eight) EVENER_INLINE {
    const EightIndices<bits> i(indices + eight * bits);
    return _mm256_setr_m128i(four_points<0>(book, i), four_points<4>(book, i));
  });
}

// Points of eight coordinates: half of two steps.
template <size_t bits, size_t size>
EVENER_INLINE inline Bytes points(const uint8_t (&book)[size][8], const uint8_t* indices,
                                  size_t half) {
  return from_eights([&](size_t eight) EVENER_INLINE {
    const EightIndices<bits> i(indices + eight * bits);
    const __m256 a =
        _mm256_castsi256_ps(_mm256_setr_m128i(two_points<0>(book, i), two_points<4>(book, i)));
    const __m256 b =
        _mm256_castsi256_ps(_mm256_setr_m128i(two_points<2>(book, i), two_points<6>(book, i)));
    return _mm256_castps_si256(half == 0 ? _mm256_shuffle_ps(a, b, 0x88)
                                         : _mm256_shuffle_ps(a, b, 0xdd));
  });
}

// A lane's 28 lower bits as four bytes of seven; the eighth bit is set where that makes the number
// of bits that are set even.
EVENER_INLINE inline Bytes even_signs(Ints word) {
  const Ints halves = (word & Ints::splat(0x3fff)) | ((word & Ints::splat(0x0fffc000)) << 2);
  const Bytes sevens =
      as_bytes((halves & Ints::splat(0x007f007f)) | ((halves & Ints::splat(0x3f803f80)) << 1));
  static const uint8_t odd[16] = {0, 128, 128, 0, 128, 0, 0, 128, 128, 0, 0, 128, 0, 128, 128, 0};
  const Bytes folded = (sevens ^ (sevens >> 4)) & Bytes::splat(15);
  return sevens | look_up(Bytes::repeat_sixteen(odd), folded);
}

// 255 where the sign bit of one of the four inputs of a step is set. A byte of `signs` holds two
// steps.
EVENER_INLINE inline Bytes negative(Bytes signs, size_t step) {
  static const uint8_t bits[2][4] = {{1, 2, 4, 8}, {16, 32, 64, 128}};
  return where_set(repeat_byte(signs, step / 2), Bytes::repeat_four(bits[step % 2]));
}

// offset + x becomes offset - x where `negative` is 255.
template <int offset>
EVENER_INLINE inline Bytes with_signs(Bytes codes, Bytes negative) {
  return (codes ^ negative) + (negative & Bytes::splat(2 * offset + 1));
}

// 2 s + 1 for both values s of a lane, each below 16.
EVENER_INLINE inline Ints odd_pair(Ints first, Ints second) {
  const Ints pair = first | (second << 16);
  return pair + pair + Ints::splat(0x00010001);
}

EVENER_INLINE inline Scale odd_scale(Ints s) { return scale_of(s + s + Ints::splat(1)); }

// What all these formats share: a block begins with its scale, f16.
struct PointFormat {
  static constexpr bool kPacked = true;
  static constexpr bool kHasMins = false;
  static constexpr int kCodeStep = 1;
  using Codes = Bytes;
  const uint8_t* block;

  explicit PointFormat(const void* p) : block(static_cast<const uint8_t*>(p)) {}

  EVENER_INLINE F32 half() const { return F32::load_f16(reinterpret_cast<const uint16_t*>(block)); }
  // Two 4-bit values of a byte a lane, the first in the lower bits.
  EVENER_INLINE Ints nibble(size_t at, size_t index) const {
    const Ints both = Ints::load_u8(block + at * kLanes);
    return index == 0 ? both & Ints::splat(15) : both >> 4;
  }
  EVENER_INLINE Pairs nibble_scales(size_t at) const {
    return {odd_pair(nibble(at, 0), nibble(at, 1)).v};
  }
  EVENER_INLINE Ints word(size_t at, size_t index) const {
    return Ints::load(block + (at + 4 * index) * kLanes);
  }
};
