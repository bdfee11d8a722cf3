#pragma once

// AVX-512 intrinsics for a machine without them: SIMDe's, and those of ours that its release in
// Debian 12 lacks. Put before the kernel files when they are built for tests
// (EVENER_EMULATE_AVX512).
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <immintrin.h>
#include <simde/x86/avx512.h>
#include <string.h>

namespace {

inline __m512 emulated_two_halves(__m256 low, __m256 high) {
  float lanes[16];
  _mm256_storeu_ps(lanes, low);
  _mm256_storeu_ps(lanes + 8, high);
  return simde_mm512_loadu_ps(lanes);
}

inline __m512 emulated_cvtph_ps(__m256i halves) {
  return emulated_two_halves(_mm256_cvtph_ps(_mm256_castsi256_si128(halves)),
                             _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1)));
}

inline __m512 emulated_maskz_loadu_ps(unsigned mask, const float* p) {
  float lanes[16] = {};
  for (int i = 0; i < 16; ++i) {
    if ((mask >> i & 1) != 0) lanes[i] = p[i];
  }
  return simde_mm512_loadu_ps(lanes);
}

inline void emulated_mask_storeu_ps(float* p, unsigned mask, __m512 a) {
  float lanes[16];
  simde_mm512_storeu_ps(lanes, a);
  for (int i = 0; i < 16; ++i) {
    if ((mask >> i & 1) != 0) p[i] = lanes[i];
  }
}

inline __m256 emulated_extractf32x8_ps(__m512 a, int half) {
  float lanes[16];
  simde_mm512_storeu_ps(lanes, a);
  return _mm256_loadu_ps(lanes + 8 * half);
}

inline __m512i emulated_cvtps_epi32(__m512 a) {
  int lanes[16];
  for (int half = 0; half < 2; ++half) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes + 8 * half),
                        _mm256_cvtps_epi32(emulated_extractf32x8_ps(a, half)));
  }
  return simde_mm512_loadu_si512(lanes);
}

inline __m512i emulated_two_int_halves(__m256i low, __m256i high) {
  int lanes[16];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), low);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes + 8), high);
  return simde_mm512_loadu_si512(lanes);
}

inline __m256i emulated_int_half(__m512i a, int half) {
  int lanes[16];
  simde_mm512_storeu_si512(lanes, a);
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes + 8 * half));
}

inline __m512 emulated_cvtepi32_ps(__m512i a) {
  return emulated_two_halves(_mm256_cvtepi32_ps(emulated_int_half(a, 0)),
                             _mm256_cvtepi32_ps(emulated_int_half(a, 1)));
}

inline __m512i emulated_cvtepu16_epi32(__m256i a) {
  return emulated_two_int_halves(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(a)),
                                 _mm256_cvtepu16_epi32(_mm256_extracti128_si256(a, 1)));
}

inline __m512i emulated_cvtepi8_epi32(__m128i a) {
  return emulated_two_int_halves(_mm256_cvtepi8_epi32(a),
                                 _mm256_cvtepi8_epi32(_mm_srli_si128(a, 8)));
}

inline __m512i emulated_cvtepu8_epi16(__m256i a) {
  return emulated_two_int_halves(_mm256_cvtepu8_epi16(_mm256_castsi256_si128(a)),
                                 _mm256_cvtepu8_epi16(_mm256_extracti128_si256(a, 1)));
}

inline __m512i emulated_cvtepu8_epi32(__m128i a) {
  return emulated_two_int_halves(_mm256_cvtepu8_epi32(a),
                                 _mm256_cvtepu8_epi32(_mm_srli_si128(a, 8)));
}

inline __m512i emulated_srai_epi32(__m512i a, int n) {
  return emulated_two_int_halves(_mm256_srai_epi32(emulated_int_half(a, 0), n),
                                 _mm256_srai_epi32(emulated_int_half(a, 1), n));
}

}  // namespace

#define _mm512_cvtps_epi32 emulated_cvtps_epi32
#define _mm512_cvtph_ps emulated_cvtph_ps
#define _mm512_maskz_loadu_ps emulated_maskz_loadu_ps
#define _mm512_mask_storeu_ps emulated_mask_storeu_ps
#define _mm512_extractf32x8_ps emulated_extractf32x8_ps
#define _mm512_cvtepi32_ps emulated_cvtepi32_ps
#define _mm512_cvtepu16_epi32 emulated_cvtepu16_epi32
#define _mm512_cvtepu8_epi32 emulated_cvtepu8_epi32
#define _mm512_cvtepi8_epi32 emulated_cvtepi8_epi32
#define _mm512_cvtepu8_epi16 emulated_cvtepu8_epi16
#define _mm512_srai_epi32 emulated_srai_epi32
