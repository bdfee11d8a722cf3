// Compiled with the flags of its ISA: C headers only, and all but the table in an unnamed
// namespace.
#include <immintrin.h>
#include <string.h>

#include "device/cpu/kernels/codebooks.h"
#include "device/cpu/kernels/linear_kernels.h"

namespace evener::device::cpu {
namespace {

// The vectors are shared with other files and have more than this one needs.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "device/cpu/kernels/f32_avx2.inl"
//
#include "device/cpu/kernels/unroll.inl"
//
#include "device/cpu/kernels/int_avx2.inl"
//
#include "device/cpu/kernels/linear_core.inl"
#pragma GCC diagnostic pop
//
#include "device/cpu/kernels/super_table.inl"

}  // namespace

const FormatTable super_formats_avx2 = {kFormats, sizeof kFormats / sizeof kFormats[0]};

}  // namespace evener::device::cpu
