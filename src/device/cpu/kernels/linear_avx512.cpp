// Compiled with the flags of its ISA: C headers only, and all but the table in an unnamed
// namespace.
#include "device/cpu/kernels/linear_kernels.h"

// The tests of a machine without AVX-512 build this file with the intrinsics emulated.
#ifdef EVENER_EMULATE_AVX512
#define EVENER_TABLE linear_kernels_avx512vnni_emulated
#define EVENER_TABLE_NAME "avx512vnni, emulated"
#else
#define EVENER_TABLE linear_kernels_avx512vnni
#define EVENER_TABLE_NAME "avx512vnni"
#include <immintrin.h>
#endif
#include <string.h>

namespace evener::device::cpu {
namespace {

// The vector of floats is shared with the other operations and has more than linear maps need.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "device/cpu/kernels/f32_avx512.inl"
#pragma GCC diagnostic pop
//
#include "device/cpu/kernels/unroll.inl"
//
#include "device/cpu/kernels/int_avx512.inl"
//
#include "device/cpu/kernels/linear_sums.inl"
//
#include "device/cpu/kernels/q4_0.inl"
#include "device/cpu/kernels/q4_k.inl"
#include "device/cpu/kernels/q6_k.inl"
#include "device/cpu/kernels/q8_0.inl"
//
#include "device/cpu/kernels/linear_float.inl"
#include "device/cpu/kernels/linear_small.inl"
#include "device/cpu/kernels/linear_super.inl"
#include "device/cpu/kernels/quantise.inl"
//
#include "device/cpu/kernels/linear_table.inl"

}  // namespace

const LinearKernels EVENER_TABLE = {
    .isa = EVENER_TABLE_NAME,
    .lanes = kLanes,
    .quantise_q8_0 = quantise_q8_0,
    .quantise_q8_k = quantise_q8_k,
    .formats = kFormats,
    .num_formats = sizeof kFormats / sizeof kFormats[0],
};

}  // namespace evener::device::cpu
