// Compiled with the flags of its ISA: C headers only, and all but the table in an unnamed
// namespace.
#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "device/cpu/kernels/ops_kernels.h"

namespace evener::device::cpu {
namespace {

#include "device/cpu/kernels/f32_avx2.inl"
//
#include "device/cpu/kernels/elementwise.inl"
//
#include "device/cpu/kernels/attention.inl"
#include "device/cpu/kernels/conv.inl"
#include "device/cpu/kernels/delta_net.inl"
#include "device/cpu/kernels/experts.inl"
#include "device/cpu/kernels/norm.inl"
#include "device/cpu/kernels/rope.inl"

}  // namespace

const OpsKernels ops_kernels_avx2 = {
    .isa = "avx2",
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
    .store_f16 = store_f16,
    .store_f32 = store_f32,
    .attend_f16 = attend_f16,
    .attend_f32 = attend_f32,
    .merge = merge_attention,
    .finish = finish_attention,
    .causal_conv_silu = causal_conv_silu,
    .l2_norm = l2_norm,
    .gated_delta_net = gated_delta_net,
};

}  // namespace evener::device::cpu
