// Packed formats whose codes name points of a codebook: IQ1, IQ2, IQ3. A point is looked up with a
// load of its own, which is what their speed with few rows hangs on; gathering instructions are
// slower yet. Indices of more than a byte are put together in memory first, for which many of them
// share an instruction: from there each of them takes one load, not a shift and a mask.

// Packed: the lower eight bits of all indices, [points][lane]; then, in bytes likewise but of four
// points alone, the bits above, as pack_lanes.h says.
template <size_t bits, size_t points>
class Indices {
 public:
  static constexpr size_t kLaneBytes = points * bits / 8;

  explicit Indices(const uint8_t* packed) {
    for (size_t four = 0; four < points / 4; ++four) {
      const Bytes low = Bytes::load(packed + 4 * four * kLanes);
      const Bytes high = upper_bits(packed + points * kLanes, four);
      interleave_low(low, high).store(whole_[four][0]);
      interleave_high(low, high).store(whole_[four][1]);
    }
  }

  // Of lanes 8 `eight` and on.
  EVENER_INLINE const uint16_t* of(size_t point, size_t eight) const {
    const size_t place = place_of_eight(point % 4, eight);
    return whole_[point / 4][place / (2 * kLanes)] + place % (2 * kLanes);
  }

 private:
  EVENER_INLINE static Bytes upper_bits(const uint8_t* packed, size_t four) {
    if constexpr (bits == 9) {
      return (plane(packed, four / 8) >> int(four % 8)) & Bytes::splat(1);
    } else {
      const Bytes two = (plane(packed, four / 4) >> int(2 * (four % 4))) & Bytes::splat(3);
      if constexpr (bits == 10) return two;
      const Bytes one = (plane(packed, points / 16 + four / 8) >> int(four % 8)) & Bytes::splat(1);
      return two | (one << 2);
    }
  }
  EVENER_INLINE static Bytes plane(const uint8_t* packed, size_t index) {
    return Bytes::load(packed + 4 * index * kLanes);
  }

  uint16_t whole_[points / 4][2][2 * kLanes];
};

template <size_t points>
class Indices<8, points> {
 public:
  static constexpr size_t kLaneBytes = points;

  explicit Indices(const uint8_t* packed) : packed_(packed) {}
  EVENER_INLINE const uint8_t* of(size_t point, size_t eight) const {
    return packed_ + point * kLanes + 8 * eight;
  }

 private:
  const uint8_t* packed_;
};

// Sixteen bytes that have `point` at place `place` of them: with a blend this is the cheapest way
// of putting points side by side. Other parts of the codebooks lie before and behind the book.
template <size_t size>
EVENER_INLINE inline __m128i around(const uint8_t (&point)[size], size_t place) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(point - place));
}

// Points of four coordinates of lanes `lane` to `lane` + 3.
template <size_t lane, class Index, size_t size>
EVENER_INLINE inline __m128i four_points(const uint8_t (&book)[size][4], const Index* i) {
  const __m128i first = around(book[i[lane]], 0);
  const __m128i two = _mm_blend_epi32(first, around(book[i[lane + 1]], 4), 2);
  const __m128i three = _mm_blend_epi32(two, around(book[i[lane + 2]], 8), 4);
  return _mm_blend_epi32(three, around(book[i[lane + 3]], 12), 8);
}

// Points of eight coordinates of lanes `lane` and `lane` + 1.
template <size_t lane, class Index, size_t size>
EVENER_INLINE inline __m128i two_points(const uint8_t (&book)[size][8], const Index* i) {
  return _mm_blend_epi32(around(book[i[lane]], 0), around(book[i[lane + 1]], 8), 12);
}

// Points of four coordinates: a step.
template <size_t bits, size_t num_points, size_t size>
EVENER_INLINE inline Bytes points(const uint8_t (&book)[size][4],
                                  const Indices<bits, num_points>& indices, size_t point) {
  return from_eights([&](size_t eight) EVENER_INLINE {
    const auto* const i = indices.of(point, eight);
    return _mm256_setr_m128i(four_points<0>(book, i), four_points<4>(book, i));
  });
}

// Points of eight coordinates: half of two steps.
template <size_t bits, size_t num_points, size_t size>
EVENER_INLINE inline Bytes points(const uint8_t (&book)[size][8],
                                  const Indices<bits, num_points>& indices, size_t point,
                                  size_t half) {
  return from_eights([&](size_t eight) EVENER_INLINE {
    const auto* const i = indices.of(point, eight);
    const __m256 a =
        _mm256_castsi256_ps(_mm256_setr_m128i(two_points<0>(book, i), two_points<4>(book, i)));
    const __m256 b =
        _mm256_castsi256_ps(_mm256_setr_m128i(two_points<2>(book, i), two_points<6>(book, i)));
    return _mm256_castps_si256(half == 0 ? _mm256_shuffle_ps(a, b, 0x88)
                                         : _mm256_shuffle_ps(a, b, 0xdd));
  });
}

// Signs of the 32 inputs that share a word a lane, bits that are set where an input is negative:
// byte i has those of input i of each step, as pack_lanes.h says. Below the four uppermost bits
// here, which are found from this: in the steps 2 p and 2 p + 1 together their number is even.
EVENER_INLINE inline Bytes even_signs(Ints word) {
  const Ints known = word & Ints::splat(0x0fffffff);
  const Bytes halves = as_bytes(known) ^ as_bytes(known >> 16);
  const Bytes bytes = halves ^ as_bytes(as_ints(halves) >> 8);
  const Ints parity = as_ints(bytes ^ as_bytes(as_ints(bytes) >> 4));
  return as_bytes(known | (parity << 28));
}

EVENER_INLINE inline Negative negative(Bytes signs, size_t step) {
  return Negative::of_bit(signs, int(step / 2 + step % 2 * 4));
}

// Coordinates without their signs, which go over to the activations.
struct PointCodes {
  Bytes sizes;
  Negative negative;
};

EVENER_INLINE inline ProductSum add_products(ProductSum sum, PointCodes codes, Bytes x) {
  return add_products(sum, codes.sizes, negate(x, codes.negative));
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

// Those of them with signs. A tile, which many rows share, has no time for the signs of each:
// there coordinate x is code x + `offset` over `step`.
template <size_t size_max, size_t code_max, int offset, int step>
struct SignedPointFormat : PointFormat {
  static constexpr size_t kCodeMax = size_max;
  static constexpr int kOffset = 0;
  using Codes = PointCodes;

  struct Tiled {
    static constexpr size_t kCodeMax = code_max;
    static constexpr int kOffset = offset;
    static constexpr int kCodeStep = step;
    using Codes = Bytes;

    EVENER_INLINE static Bytes of(PointCodes codes) {
      const Bytes code = negate(codes.sizes, codes.negative) + Bytes::splat(offset);
      return step == 2 ? (code >> 1) & Bytes::splat(127) : code;
    }
  };

  explicit SignedPointFormat(const void* p) : PointFormat(p) {}
};
