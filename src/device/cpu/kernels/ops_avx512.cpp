// Compiled with the flags of its ISA: C headers only, and all but the table in an unnamed
// namespace.
#include "device/cpu/kernels/ops_kernels.h"

// The tests of a machine without AVX-512 build this file with the intrinsics emulated.
#ifdef EVENER_EMULATE_AVX512
#define EVENER_TABLE ops_kernels_avx512_emulated
#define EVENER_ISA_NAME "avx512_emulated"
#else
#define EVENER_TABLE ops_kernels_avx512
#define EVENER_ISA_NAME "avx512"
#include <immintrin.h>
#endif
#include <math.h>
#include <string.h>

namespace evener::device::cpu {
namespace {

#include "device/cpu/kernels/f32_avx512.inl"
//
#include "device/cpu/kernels/elementwise.inl"
#include "device/cpu/kernels/unroll.inl"
//
#include "device/cpu/kernels/kv_tiles.inl"
//
#include "device/cpu/kernels/attention.inl"
#include "device/cpu/kernels/conv.inl"
#include "device/cpu/kernels/delta_net.inl"
#include "device/cpu/kernels/experts.inl"
#include "device/cpu/kernels/norm.inl"
#include "device/cpu/kernels/rope.inl"

}  // namespace

const OpsKernels EVENER_TABLE = {
    .isa = EVENER_ISA_NAME,
    .rms_norm = rms_norm,
    .gated_rms_norm = gated_rms_norm,
    .rope_neighbours = rope_neighbours,
    .rope_halves = rope_halves,
    .silu_mul = silu_mul,
    .sigmoid_mul = sigmoid_mul,
    .add = add,
    .sigmoid = sigmoid_of,
    .softmax = softmax,
    .weighted_sum = weighted_sum,
    .kv_f32 = {.store = store_f32, .attend = attend<FloatTile>, .unit = 1},
    .kv_f16 = {.store = store_f16, .attend = attend<HalfTile>, .unit = 1},
    .kv_q8_0 = {.store = store_q8_0, .attend = attend<Q8Tile>, .unit = 1},
    .kv_fp8 = {.store = store_fp8, .attend = attend<Fp8Tile>, .unit = kFp8Unit},
    .merge = merge_attention,
    .finish = finish_attention,
    .causal_conv_silu = causal_conv_silu,
    .l2_norm = l2_norm,
    .gated_delta_net = gated_delta_net,
};

}  // namespace evener::device::cpu
