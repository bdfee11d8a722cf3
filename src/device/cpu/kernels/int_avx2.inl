// Integer vectors of AVX2: eight 32-bit lanes, each with four bytes, two 16-bit values or one
// 32-bit value of one output. Needs f32_avx2.inl.

constexpr size_t kLanes = F32::kLanes;

struct Bytes {
  __m256i v;

  static Bytes load(const void* p) { return {_mm256_loadu_si256(static_cast<const __m256i*>(p))}; }
  static Bytes splat(int byte) { return {_mm256_set1_epi8(char(byte))}; }
  static Bytes repeat_four(const void* p) {
    int32_t four;
    memcpy(&four, p, 4);
    return {_mm256_set1_epi32(four)};
  }
  static Bytes repeat_sixteen(const void* p) {
    return {_mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(p)))};
  }
  void store(void* p) const { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }

  // As a tile keeps codes, so that nothing is left to do for each of its many rows.
  static constexpr size_t kReadyBytes = 32;
  static Bytes load_ready(const void* p) { return load(p); }
  void store_ready(void* p) const { store(p); }
};

Bytes operator+(Bytes a, Bytes b) { return {_mm256_add_epi8(a.v, b.v)}; }
Bytes operator-(Bytes a, Bytes b) { return {_mm256_sub_epi8(a.v, b.v)}; }
Bytes operator^(Bytes a, Bytes b) { return {_mm256_xor_si256(a.v, b.v)}; }
Bytes operator&(Bytes a, Bytes b) { return {_mm256_and_si256(a.v, b.v)}; }
Bytes operator|(Bytes a, Bytes b) { return {_mm256_or_si256(a.v, b.v)}; }
// Within 16 bits: bits cross from byte to byte and must be masked off.
Bytes operator>>(Bytes a, int n) { return {_mm256_srli_epi16(a.v, n)}; }
Bytes operator<<(Bytes a, int n) { return {_mm256_slli_epi16(a.v, n)}; }

// table[code] for codes below 16, of a table that repeats.
Bytes look_up(Bytes table, Bytes codes) { return {_mm256_shuffle_epi8(table.v, codes.v)}; }

// 255 where a >= b, else 0.
Bytes where_at_least(Bytes a, Bytes b) {
  return {_mm256_cmpeq_epi8(_mm256_max_epu8(a.v, b.v), a.v)};
}

// Bytes of a and b in turn, those of the lower or the upper half of each sixteen.
Bytes interleave_low(Bytes a, Bytes b) { return {_mm256_unpacklo_epi8(a.v, b.v)}; }
Bytes interleave_high(Bytes a, Bytes b) { return {_mm256_unpackhi_epi8(a.v, b.v)}; }

// Of bytes [4 points][kLanes], interleaved and those of the lower halves first: where the eight of
// a point are.
constexpr size_t place_of_eight(size_t point, size_t) { return point % 2 * 16 + point / 2 * 8; }

// eight(n) is the vector of lanes 8 n to 8 n + 7.
template <class Eight>
EVENER_INLINE inline Bytes from_eights(Eight eight) {
  return {eight(0)};
}

struct Ints {
  __m256i v;

  static Ints zero() { return {_mm256_setzero_si256()}; }
  static Ints splat(int32_t x) { return {_mm256_set1_epi32(x)}; }
  static Ints load(const void* p) { return {_mm256_loadu_si256(static_cast<const __m256i*>(p))}; }
  static Ints load_u8(const void* p) {
    return {_mm256_cvtepu8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)))};
  }
  static Ints load_u16(const void* p) {
    return {_mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)))};
  }
  void store(void* p) const { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
};

Ints operator&(Ints a, Ints b) { return {_mm256_and_si256(a.v, b.v)}; }
Ints operator|(Ints a, Ints b) { return {_mm256_or_si256(a.v, b.v)}; }
Ints operator+(Ints a, Ints b) { return {_mm256_add_epi32(a.v, b.v)}; }
Ints operator-(Ints a, Ints b) { return {_mm256_sub_epi32(a.v, b.v)}; }
Ints operator*(Ints a, Ints b) { return {_mm256_mullo_epi32(a.v, b.v)}; }
Ints operator<<(Ints a, int n) { return {_mm256_slli_epi32(a.v, n)}; }
Ints operator>>(Ints a, int n) { return {_mm256_srli_epi32(a.v, n)}; }  // zeros come in
Ints max(Ints a, Ints b) { return {_mm256_max_epi32(a.v, b.v)}; }
F32 to_f32(Ints a) { return {_mm256_cvtepi32_ps(a.v)}; }
F32 bits_as_f32(Ints a) { return {_mm256_castsi256_ps(a.v)}; }
Bytes as_bytes(Ints a) { return {a.v}; }
Ints as_ints(Bytes a) { return {a.v}; }

// 255 in all bytes of the lanes in which bit `bit` is set, else 0.
Bytes lanes_where_set(Ints a, int bit) {
  return {_mm256_srai_epi32(_mm256_slli_epi32(a.v, 31 - bit), 31)};
}

// Two 16-bit values a lane.
struct Pairs {
  __m256i v;

  static Pairs load_u8(const void* p) {
    return {_mm256_cvtepu8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(p)))};
  }
  static Pairs load_s8(const void* p) {
    return {_mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(p)))};
  }
  static Pairs load(const void* p) { return {_mm256_loadu_si256(static_cast<const __m256i*>(p))}; }
  static Pairs repeat(const int16_t (&pair)[2]) {
    int32_t two;
    memcpy(&two, pair, 4);
    return {_mm256_set1_epi32(two)};
  }
  void store(void* p) const { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
};

// sum + a[0] b[0] + a[1] b[1] in each lane.
Ints add_dot(Ints sum, Pairs a, Pairs b) { return sum + Ints{_mm256_madd_epi16(a.v, b.v)}; }

// What a sum of products is multiplied with: here the 16-bit value twice a lane.
struct Scale {
  __m256i v;

  static Scale load(const void* p) { return {_mm256_loadu_si256(static_cast<const __m256i*>(p))}; }
  void store(void* p) const { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
};

Scale scale_of_first(Pairs a) {
  const __m256i twice = _mm256_set1_epi64x(0x0504050401000100);
  return {_mm256_shuffle_epi8(
      a.v,
      _mm256_or_si256(twice, _mm256_setr_epi64x(0, 0x0808080808080808, 0, 0x0808080808080808)))};
}
Scale scale_of_second(Pairs a) {
  const __m256i twice = _mm256_set1_epi64x(0x0706070603020302);
  return {_mm256_shuffle_epi8(
      a.v,
      _mm256_or_si256(twice, _mm256_setr_epi64x(0, 0x0808080808080808, 0, 0x0808080808080808)))};
}

// Of a value in [0, 65535] a lane.
Scale scale_of(Ints a) { return {_mm256_or_si256(a.v, _mm256_slli_epi32(a.v, 16))}; }

// Sums of products of codes and activations, two 16-bit ones a lane. Activations are in [-127, 127]
// and codes in [0, code_max], so that steps_before_scaling(code_max) products per byte fit.
struct ProductSum {
  __m256i v;
  static ProductSum zero() { return {_mm256_setzero_si256()}; }
};

constexpr size_t steps_before_scaling(size_t code_max) { return 32767 / (2 * 127 * code_max); }

ProductSum add_products(ProductSum sum, Bytes codes, Bytes x) {
  return {_mm256_add_epi16(sum.v, _mm256_maddubs_epi16(codes.v, x.v))};
}

Ints add_scaled(Ints total, ProductSum sum, Scale scale) {
  return {_mm256_add_epi32(total.v, _mm256_madd_epi16(sum.v, scale.v))};
}

Ints add_unscaled(Ints total, ProductSum sum) {
  return {_mm256_add_epi32(total.v, _mm256_madd_epi16(sum.v, _mm256_set1_epi16(1)))};
}

// Codes in [-128, 127]: the sign of a code goes over to the activation, so that -128 works and no
// pair of products leaves 16 bits.
constexpr int kSignedOffset = 0;

struct SignedCodes {
  __m256i v;
  __m256i magnitude;
  static SignedCodes of(Bytes codes) { return {codes.v, _mm256_abs_epi8(codes.v)}; }

  static constexpr size_t kReadyBytes = 64;
  static SignedCodes load_ready(const void* p) {
    const auto* const two = static_cast<const __m256i*>(p);
    return {_mm256_loadu_si256(two), _mm256_loadu_si256(two + 1)};
  }
  void store_ready(void* p) const {
    auto* const two = static_cast<__m256i*>(p);
    _mm256_storeu_si256(two, v);
    _mm256_storeu_si256(two + 1, magnitude);
  }
};

ProductSum add_products(ProductSum sum, SignedCodes codes, Bytes x) {
  const __m256i products = _mm256_maddubs_epi16(codes.magnitude, _mm256_sign_epi8(x.v, codes.v));
  return {_mm256_add_epi16(sum.v, products)};
}

// Which bytes are meant negative.
struct Negative {
  __m256i v;  // not 0, and less than 0 in these bytes

  // Where the bit is set.
  static Negative of_bit(Bytes a, int bit) {
    return {_mm256_or_si256(_mm256_slli_epi16(a.v, 7 - bit), _mm256_set1_epi8(1))};
  }
};

Bytes negate(Bytes a, Negative negative) { return {_mm256_sign_epi8(a.v, negative.v)}; }

// The first lane in which they are equal; kLanes if there is none.
size_t first_equal(F32 a, F32 b) {
  const int lanes = _mm256_movemask_ps(_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ));
  return lanes == 0 ? F32::kLanes : size_t(__builtin_ctz(unsigned(lanes)));
}

// Rounds 32 floats times `factor` to the nearest integers, ties to even, within [-128, 127].
void round_to_codes(const float* x, float factor, int8_t* codes) {
  __m256i ints[4];
  for (size_t i = 0; i < 4; ++i) {
    ints[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 8 * i), _mm256_set1_ps(factor)));
  }
  const __m256i low = _mm256_packs_epi32(ints[0], ints[1]);
  const __m256i high = _mm256_packs_epi32(ints[2], ints[3]);
  const __m256i mixed = _mm256_packs_epi16(low, high);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes), _mm256_permutevar8x32_epi32(mixed, order));
}

F32 load_bf16(const uint16_t* p) {
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16))};
}

// Half the values of 8-bit floats with four exponent bits and three fraction bits (E4M3), without
// sign or NaN: shifted to a half's place, their exponent is off by a constant.
F32 load_half_e4m3(const void* p) {
  const __m128i bytes = _mm_cvtepu8_epi16(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
  return F32{_mm256_cvtph_ps(_mm_slli_epi16(bytes, 7))} * F32::splat(0x1p7f);
}

// The sums of each 8 of 32 codes.
void sum_codes(const int8_t* codes, int32_t (&sums)[4]) {
  const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
  const __m256i above_zero = _mm256_xor_si256(v, _mm256_set1_epi8(-128));
  const __m256i totals = _mm256_sad_epu8(above_zero, _mm256_setzero_si256());
  int64_t of_eight[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(of_eight), totals);
  for (size_t i = 0; i < 4; ++i) sums[i] = int32_t(of_eight[i]) - 8 * 128;
}
