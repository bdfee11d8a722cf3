// Compiled with the flags of its ISA: C headers only, and all but the table in an unnamed
// namespace.
#include "device/cpu/kernels/codebooks.h"
#include "device/cpu/kernels/linear_kernels.h"

// The tests of a machine without AVX-512 build this file with the intrinsics emulated.
#ifdef EVENER_EMULATE_AVX512
#define EVENER_TABLE codebook_formats_avx512vnni_emulated
#else
#define EVENER_TABLE codebook_formats_avx512vnni
#include <immintrin.h>
#endif
#include <string.h>

namespace evener::device::cpu {
namespace {

// The vectors are shared with other files and have more than this one needs.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "device/cpu/kernels/f32_avx512.inl"
//
#include "device/cpu/kernels/unroll.inl"
//
#include "device/cpu/kernels/int_avx512.inl"
//
#include "device/cpu/kernels/linear_core.inl"
#pragma GCC diagnostic pop
//
#include "device/cpu/kernels/codebook_table.inl"

}  // namespace

const FormatTable EVENER_TABLE = {kFormats, sizeof kFormats / sizeof kFormats[0]};

}  // namespace evener::device::cpu
