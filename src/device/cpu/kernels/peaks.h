#pragma once

#include <stdint.h>

// What the units of one core can do at most: multiply-adds in chains that wait for nothing, not
// even for memory. Kernels are held against it. C headers only, no inline functions: see ANCHORS
// 2.7.
namespace evener::device::cpu {

struct Peak {
  const char* isa;    // as isa_name() says it
  const char* units;  // "int8", "f32"
  uint64_t macs_a_turn;
  uint64_t (*multiply)(uint64_t num_turns);  // the result is of no use, but must be used
};

// The way of the kernels: two instructions for 32 products of bytes with AVX2, one for 64 with
// AVX-512 VNNI.
extern const Peak peak_int8_avx2;
extern const Peak peak_f32_avx2;
extern const Peak peak_int8_avx512;
extern const Peak peak_f32_avx512;

}  // namespace evener::device::cpu
