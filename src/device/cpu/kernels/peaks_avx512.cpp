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
  __m512i sums[kChains] = {};
  __m512i codes = _mm512_set1_epi8(3);
  const __m512i x = _mm512_set1_epi8(1);
  for (uint64_t turn = 0; turn < num_turns; ++turn) {
    for (__m512i& sum : sums) {
      __asm__ volatile("" : "+v"(codes));  // not the same products as before
      sum = _mm512_dpbusd_epi32(sum, codes, x);
    }
  }
  for (const __m512i& sum : sums) codes = _mm512_xor_si512(codes, sum);
  alignas(64) uint64_t words[8];
  _mm512_store_si512(words, codes);
  return words[0];
}

uint64_t multiply_floats(uint64_t num_turns) {
  __m512 sums[kChains] = {};
  __m512 weights = _mm512_set1_ps(0.5f);
  const __m512 x = _mm512_set1_ps(1);
  for (uint64_t turn = 0; turn < num_turns; ++turn) {
    for (__m512& sum : sums) {
      __asm__ volatile("" : "+v"(weights));
      sum = _mm512_fmadd_ps(weights, x, sum);
    }
  }
  for (const __m512& sum : sums) weights = _mm512_add_ps(weights, sum);
  return uint64_t(_mm512_cvtss_f32(weights));
}

}  // namespace

const Peak peak_int8_avx512 = {"avx512vnni", "int8", 64 * kChains, multiply_bytes};
const Peak peak_f32_avx512 = {"avx512vnni", "f32", 16 * kChains, multiply_floats};

}  // namespace evener::device::cpu
