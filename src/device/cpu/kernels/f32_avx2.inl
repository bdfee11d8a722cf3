// Eight floats in an AVX2 register (with FMA and F16C). Comparisons and order of sums are fixed
// here; everything else rounds as IEEE says.
struct F32 {
  static constexpr size_t kLanes = 8;
  __m256 v;

  static F32 zero() { return {_mm256_setzero_ps()}; }
  static F32 splat(float x) { return {_mm256_set1_ps(x)}; }
  static F32 load(const float* p) { return {_mm256_loadu_ps(p)}; }
  static F32 load_f16(const uint16_t* p) {
    return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
  }
  static F32 load_i8(const int8_t* p) {
    const __m128i codes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes))};
  }
  static __m256i first_lanes(size_t n) {
    static const int32_t ones_then_zeros[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones_then_zeros + 8 - n));
  }
  // The first n < kLanes floats at p; the lanes behind are 0 and their memory is not touched.
  static F32 load_first(const float* p, size_t n) {
    return {_mm256_maskload_ps(p, first_lanes(n))};
  }
  void store(float* p) const { _mm256_storeu_ps(p, v); }
  void store_first(float* p, size_t n) const { _mm256_maskstore_ps(p, first_lanes(n), v); }
};

F32 operator+(F32 a, F32 b) { return {_mm256_add_ps(a.v, b.v)}; }
F32 operator-(F32 a, F32 b) { return {_mm256_sub_ps(a.v, b.v)}; }
F32 operator*(F32 a, F32 b) { return {_mm256_mul_ps(a.v, b.v)}; }
F32 operator/(F32 a, F32 b) { return {_mm256_div_ps(a.v, b.v)}; }
F32 fma(F32 a, F32 b, F32 c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
F32 max(F32 a, F32 b) { return {_mm256_max_ps(a.v, b.v)}; }  // b where one is NaN
F32 abs(F32 a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v)}; }

F32 round_to_even(F32 a) {
  return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}

// 2^n for whole n in [-126, 127].
F32 power_of_two(F32 n) {
  const __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n.v), _mm256_set1_epi32(127));
  return {_mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23))};
}

// x < bound ? 0 : value; a NaN in x keeps value.
F32 zero_where_less(F32 x, F32 bound, F32 value) {
  return {_mm256_andnot_ps(_mm256_cmp_ps(x.v, bound.v, _CMP_LT_OQ), value.v)};
}

// By x's sign bit.
F32 select_negative(F32 x, F32 if_negative, F32 otherwise) {
  return {_mm256_blendv_ps(otherwise.v, if_negative.v, x.v)};
}

float first_lane(F32 a) { return _mm256_cvtss_f32(a.v); }

// Halves, then quarters, then neighbours.
float sum_lanes(F32 a) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// out[r] = sum of a[r]'s lanes.
void sum_lanes_each(const F32 (&a)[1], float* out) { *out = sum_lanes(a[0]); }

void sum_lanes_each(const F32 (&a)[4], float* out) {
  const __m256 pairs = _mm256_hadd_ps(a[0].v, a[1].v);
  const __m256 more_pairs = _mm256_hadd_ps(a[2].v, a[3].v);
  const __m256 quarters = _mm256_hadd_ps(pairs, more_pairs);
  const __m128 sums =
      _mm_add_ps(_mm256_castps256_ps128(quarters), _mm256_extractf128_ps(quarters, 1));
  _mm_storeu_ps(out, sums);
}

float max_lanes(F32 a) {
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

// Sixteen halves, of which F32 loads kLanes at a time.
struct F16x16 {
  __m256i v;

  F32 lanes(size_t first) const {
    return {
        _mm256_cvtph_ps(first == 0 ? _mm256_castsi256_si128(v) : _mm256_extracti128_si256(v, 1))};
  }
};

uint16_t to_f16(float x) {
  return uint16_t(_mm_extract_epi16(
      _mm_cvtps_ph(_mm_set_ss(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), 0));
}
