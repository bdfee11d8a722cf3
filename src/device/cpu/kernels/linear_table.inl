// Float weights, and formats with a float scale for 64 inputs or fewer.
#include "device/cpu/kernels/two_bits.inl"
//
#include "device/cpu/kernels/iq4_nl.inl"
#include "device/cpu/kernels/q2_0.inl"
#include "device/cpu/kernels/q4_0.inl"
#include "device/cpu/kernels/q8_0.inl"

constexpr FormatKernels kFormats[] = {
    float_format<F32Weights>(0),    // F32
    float_format<F16Weights>(1),    // F16
    small_format<Q4_0>(2),          // Q4_0
    small_format<Q4_1>(3),          // Q4_1
    small_format<Q5_0>(6),          // Q5_0
    small_format<Q5_1>(7),          // Q5_1
    small_format<Q8_0>(8),          // Q8_0
    small_format<Iq4Nl>(20),        // IQ4_NL
    float_format<Bf16Weights>(30),  // BF16
    small_format<Mxfp4>(39),        // MXFP4
    small_format<Nvfp4>(40),        // NVFP4
    small_format<Q1_0>(41),         // Q1_0
    small_format<Q2_0>(42),         // Q2_0
};
