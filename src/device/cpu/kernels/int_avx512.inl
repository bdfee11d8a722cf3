// Integer vectors of AVX-512 with VNNI, the counterpart of int_avx2.inl, whose comments hold here
// too: sixteen 32-bit lanes.

constexpr size_t kLanes = F32::kLanes;

struct Bytes {
  __m512i v;

  static Bytes load(const void* p) { return {_mm512_loadu_si512(p)}; }
  static Bytes splat(int byte) { return {_mm512_set1_epi8(char(byte))}; }
  static Bytes repeat_four(const void* p) {
    int32_t four;
    memcpy(&four, p, 4);
    return {_mm512_set1_epi32(four)};
  }
  static Bytes repeat_sixteen(const void* p) {
    return {_mm512_broadcast_i32x4(_mm_loadu_si128(static_cast<const __m128i*>(p)))};
  }
  void store(void* p) const { _mm512_storeu_si512(p, v); }

  static constexpr size_t kReadyBytes = 64;
  static Bytes load_ready(const void* p) { return load(p); }
  void store_ready(void* p) const { store(p); }
};

Bytes operator+(Bytes a, Bytes b) { return {_mm512_add_epi8(a.v, b.v)}; }
Bytes operator-(Bytes a, Bytes b) { return {_mm512_sub_epi8(a.v, b.v)}; }
Bytes operator^(Bytes a, Bytes b) { return {_mm512_xor_si512(a.v, b.v)}; }
Bytes operator&(Bytes a, Bytes b) { return {_mm512_and_si512(a.v, b.v)}; }
Bytes operator|(Bytes a, Bytes b) { return {_mm512_or_si512(a.v, b.v)}; }
Bytes operator>>(Bytes a, int n) { return {_mm512_srl_epi16(a.v, _mm_cvtsi32_si128(n))}; }
Bytes operator<<(Bytes a, int n) { return {_mm512_sll_epi16(a.v, _mm_cvtsi32_si128(n))}; }

Bytes look_up(Bytes table, Bytes codes) { return {_mm512_shuffle_epi8(table.v, codes.v)}; }

Bytes where_at_least(Bytes a, Bytes b) {
  return {_mm512_movm_epi8(_mm512_cmpge_epu8_mask(a.v, b.v))};
}

Bytes interleave_low(Bytes a, Bytes b) { return {_mm512_unpacklo_epi8(a.v, b.v)}; }
Bytes interleave_high(Bytes a, Bytes b) { return {_mm512_unpackhi_epi8(a.v, b.v)}; }
constexpr size_t place_of_eight(size_t point, size_t eight) { return eight * 32 + point * 8; }

template <class Eight>
EVENER_INLINE inline Bytes from_eights(Eight eight) {
  return {_mm512_inserti64x4(_mm512_castsi256_si512(eight(0)), eight(1), 1)};
}

struct Ints {
  __m512i v;

  static Ints zero() { return {_mm512_setzero_si512()}; }
  static Ints splat(int32_t x) { return {_mm512_set1_epi32(x)}; }
  static Ints load(const void* p) { return {_mm512_loadu_si512(p)}; }
  static Ints load_u8(const void* p) {
    return {_mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)))};
  }
  static Ints load_u16(const void* p) {
    return {_mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p)))};
  }
  void store(void* p) const { _mm512_storeu_si512(p, v); }
};

Ints operator&(Ints a, Ints b) { return {_mm512_and_si512(a.v, b.v)}; }
Ints operator|(Ints a, Ints b) { return {_mm512_or_si512(a.v, b.v)}; }
Ints operator+(Ints a, Ints b) { return {_mm512_add_epi32(a.v, b.v)}; }
Ints operator-(Ints a, Ints b) { return {_mm512_sub_epi32(a.v, b.v)}; }
Ints operator<<(Ints a, int n) { return {_mm512_sll_epi32(a.v, _mm_cvtsi32_si128(n))}; }
Ints operator*(Ints a, Ints b) { return {_mm512_mullo_epi32(a.v, b.v)}; }
Ints operator>>(Ints a, int n) { return {_mm512_srl_epi32(a.v, _mm_cvtsi32_si128(n))}; }
Ints max(Ints a, Ints b) { return {_mm512_max_epi32(a.v, b.v)}; }
F32 to_f32(Ints a) { return {_mm512_cvtepi32_ps(a.v)}; }
F32 bits_as_f32(Ints a) { return {_mm512_castsi512_ps(a.v)}; }
Bytes as_bytes(Ints a) { return {a.v}; }
Ints as_ints(Bytes a) { return {a.v}; }

Bytes lanes_where_set(Ints a, int bit) {
  return {_mm512_srai_epi32(_mm512_sll_epi32(a.v, _mm_cvtsi32_si128(31 - bit)), 31)};
}

struct Pairs {
  __m512i v;

  static Pairs load_u8(const void* p) {
    return {_mm512_cvtepu8_epi16(_mm256_loadu_si256(static_cast<const __m256i*>(p)))};
  }
  static Pairs load_s8(const void* p) {
    return {_mm512_cvtepi8_epi16(_mm256_loadu_si256(static_cast<const __m256i*>(p)))};
  }
  static Pairs load(const void* p) { return {_mm512_loadu_si512(p)}; }
  static Pairs repeat(const int16_t (&pair)[2]) {
    int32_t two;
    memcpy(&two, pair, 4);
    return {_mm512_set1_epi32(two)};
  }
  void store(void* p) const { _mm512_storeu_si512(p, v); }
};

Ints add_dot(Ints sum, Pairs a, Pairs b) { return {_mm512_dpwssd_epi32(sum.v, a.v, b.v)}; }

// Here a 32-bit value.
struct Scale {
  __m512i v;

  static Scale load(const void* p) { return {_mm512_loadu_si512(p)}; }
  void store(void* p) const { _mm512_storeu_si512(p, v); }
};

Scale scale_of_first(Pairs a) { return {_mm512_srai_epi32(_mm512_slli_epi32(a.v, 16), 16)}; }
Scale scale_of_second(Pairs a) { return {_mm512_srai_epi32(a.v, 16)}; }

Scale scale_of(Ints a) { return {a.v}; }

// One 32-bit sum a lane: nothing overflows within a sub-block.
struct ProductSum {
  __m512i v;
  static ProductSum zero() { return {_mm512_setzero_si512()}; }
};

constexpr size_t steps_before_scaling(size_t) { return 64; }

ProductSum add_products(ProductSum sum, Bytes codes, Bytes x) {
  return {_mm512_dpbusd_epi32(sum.v, codes.v, x.v)};
}

Ints add_scaled(Ints total, ProductSum sum, Scale scale) {
  return {_mm512_add_epi32(total.v, _mm512_mullo_epi32(sum.v, scale.v))};
}

Ints add_unscaled(Ints total, ProductSum sum) { return {_mm512_add_epi32(total.v, sum.v)}; }

// Codes in [-128, 127] are used as code + 128.
constexpr int kSignedOffset = 128;

struct SignedCodes {
  __m512i v;
  static SignedCodes of(Bytes codes) {
    return {_mm512_xor_si512(codes.v, _mm512_set1_epi8(char(-128)))};
  }

  static constexpr size_t kReadyBytes = 64;
  static SignedCodes load_ready(const void* p) { return {_mm512_loadu_si512(p)}; }
  void store_ready(void* p) const { _mm512_storeu_si512(p, v); }
};

ProductSum add_products(ProductSum sum, SignedCodes codes, Bytes x) {
  return {_mm512_dpbusd_epi32(sum.v, codes.v, x.v)};
}

struct Negative {
  __mmask64 bytes;

  static Negative of_bit(Bytes a, int bit) {
    return {_mm512_test_epi8_mask(a.v, _mm512_set1_epi8(char(1 << bit)))};
  }
};

Bytes negate(Bytes a, Negative negative) {
  return {_mm512_mask_sub_epi8(a.v, negative.bytes, _mm512_setzero_si512(), a.v)};
}

size_t first_equal(F32 a, F32 b) {
  const __mmask16 lanes = _mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ);
  return lanes == 0 ? F32::kLanes : size_t(__builtin_ctz(lanes));
}

void round_to_codes(const float* x, float factor, int8_t* codes) {
  __m128i halves[2];
  for (size_t i = 0; i < 2; ++i) {
    const __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(x + 16 * i), _mm512_set1_ps(factor));
    halves[i] = _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(scaled));
  }
  // In one piece: a load of all would wait for two stores to be done.
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes), _mm256_setr_m128i(halves[0], halves[1]));
}

F32 load_bf16(const uint16_t* p) {
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16))};
}

F32 load_half_e4m3(const void* p) {
  const __m256i bytes = _mm256_cvtepu8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(p)));
  return F32{_mm512_cvtph_ps(_mm256_slli_epi16(bytes, 7))} * F32::splat(0x1p7f);
}

void sum_codes(const int8_t* codes, int32_t (&sums)[4]) {
  const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
  const __m256i above_zero = _mm256_xor_si256(v, _mm256_set1_epi8(-128));
  const __m256i totals = _mm256_sad_epu8(above_zero, _mm256_setzero_si256());
  int64_t of_eight[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(of_eight), totals);
  for (size_t i = 0; i < 4; ++i) sums[i] = int32_t(of_eight[i]) - 8 * 128;
}
