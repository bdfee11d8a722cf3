// Sixteen floats in an AVX-512 register (F, BW, DQ, VL). The counterpart of f32_avx2.inl, whose
// comments hold here too.
struct F32 {
  static constexpr size_t kLanes = 16;
  __m512 v;

  static F32 zero() { return {_mm512_setzero_ps()}; }
  static F32 splat(float x) { return {_mm512_set1_ps(x)}; }
  static F32 load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static F32 load_f16(const uint16_t* p) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
  }
  static F32 load_i8(const int8_t* p) {
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(codes))};
  }
  static __mmask16 first_lanes(size_t n) { return __mmask16((1u << n) - 1); }
  static F32 load_first(const float* p, size_t n) {
    return {_mm512_maskz_loadu_ps(first_lanes(n), p)};
  }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  void store_first(float* p, size_t n) const { _mm512_mask_storeu_ps(p, first_lanes(n), v); }
};

F32 operator+(F32 a, F32 b) { return {_mm512_add_ps(a.v, b.v)}; }
F32 operator-(F32 a, F32 b) { return {_mm512_sub_ps(a.v, b.v)}; }
F32 operator*(F32 a, F32 b) { return {_mm512_mul_ps(a.v, b.v)}; }
F32 operator/(F32 a, F32 b) { return {_mm512_div_ps(a.v, b.v)}; }
F32 fma(F32 a, F32 b, F32 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
F32 max(F32 a, F32 b) { return {_mm512_max_ps(a.v, b.v)}; }
F32 abs(F32 a) { return {_mm512_abs_ps(a.v)}; }

F32 round_to_even(F32 a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}

F32 power_of_two(F32 n) {
  const __m512i exponent = _mm512_add_epi32(_mm512_cvtps_epi32(n.v), _mm512_set1_epi32(127));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23))};
}

F32 zero_where_less(F32 x, F32 bound, F32 value) {
  return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x.v, bound.v, _CMP_NLT_UQ), value.v)};
}

F32 select_negative(F32 x, F32 if_negative, F32 otherwise) {
  const __mmask16 negative = _mm512_movepi32_mask(_mm512_castps_si512(x.v));
  return {_mm512_mask_blend_ps(negative, otherwise.v, if_negative.v)};
}

float first_lane(F32 a) { return _mm_cvtss_f32(_mm512_castps512_ps128(a.v)); }

__m128 low_four(__m256 a) { return _mm256_castps256_ps128(a); }
__m128 high_four(__m256 a) { return _mm256_extractf128_ps(a, 1); }

__m256 sum_halves(F32 a) {
  return _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
}

float sum_lanes(F32 a) {
  const __m256 eight = sum_halves(a);
  const __m128 four = _mm_add_ps(low_four(eight), high_four(eight));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

void sum_lanes_each(const F32 (&a)[1], float* out) { *out = sum_lanes(a[0]); }

void sum_lanes_each(const F32 (&a)[4], float* out) {
  const __m256 pairs = _mm256_hadd_ps(sum_halves(a[0]), sum_halves(a[1]));
  const __m256 more_pairs = _mm256_hadd_ps(sum_halves(a[2]), sum_halves(a[3]));
  const __m256 quarters = _mm256_hadd_ps(pairs, more_pairs);
  _mm_storeu_ps(out, _mm_add_ps(low_four(quarters), high_four(quarters)));
}

float max_lanes(F32 a) {
  const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 four = _mm_max_ps(low_four(eight), high_four(eight));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

struct F16x16 {
  __m256i v;

  F32 lanes(size_t) const { return {_mm512_cvtph_ps(v)}; }
};

uint16_t to_f16(float x) {
  return uint16_t(_mm_extract_epi16(
      _mm_cvtps_ph(_mm_set_ss(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), 0));
}
