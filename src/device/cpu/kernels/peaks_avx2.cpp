// Compiled with the flags of its ISA: C headers only, and all but the tables in an unnamed
// namespace.
#include <immintrin.h>
#include <stdint.h>

#include "device/cpu/kernels/peaks.h"

namespace evener::device::cpu {
namespace {

// Chains that do not wait for each other: enough to keep two units busy for five cycles.
constexpr uint64_t kChains = 12;

uint64_t multiply_bytes(uint64_t num_turns) {
  __m256i sums[kChains] = {};
  __m256i codes = _mm256_set1_epi8(3);
  const __m256i x = _mm256_set1_epi8(1);
  for (uint64_t turn = 0; turn < num_turns; ++turn) {
    for (__m256i& sum : sums) {
      __asm__ volatile("" : "+x"(codes));  // not the same products as before
      sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(codes, x));
    }
  }
  for (const __m256i& sum : sums) codes = _mm256_xor_si256(codes, sum);
  return uint64_t(_mm256_extract_epi64(codes, 0));
}

uint64_t multiply_floats(uint64_t num_turns) {
  __m256 sums[kChains] = {};
  __m256 weights = _mm256_set1_ps(0.5f);
  const __m256 x = _mm256_set1_ps(1);
  for (uint64_t turn = 0; turn < num_turns; ++turn) {
    for (__m256& sum : sums) {
      __asm__ volatile("" : "+x"(weights));
      sum = _mm256_fmadd_ps(weights, x, sum);
    }
  }
  for (const __m256& sum : sums) weights = _mm256_add_ps(weights, sum);
  return uint64_t(_mm256_cvtss_f32(weights));
}

}  // namespace

const Peak peak_int8_avx2 = {"avx2", "int8", 32 * kChains, multiply_bytes};
const Peak peak_f32_avx2 = {"avx2", "f32", 8 * kChains, multiply_floats};

}  // namespace evener::device::cpu
