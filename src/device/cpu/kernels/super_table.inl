// Formats of 256 inputs whose codes are numbers or look one up among sixteen.
#include "device/cpu/kernels/two_bits.inl"
//
#include "device/cpu/kernels/iq4_xs.inl"
#include "device/cpu/kernels/q2_k.inl"
#include "device/cpu/kernels/q4_k.inl"
#include "device/cpu/kernels/q6_k.inl"
#include "device/cpu/kernels/tq2_0.inl"

constexpr FormatKernels kFormats[] = {
    super_format<Q2K>(10),    // Q2_K
    super_format<Q3K>(11),    // Q3_K
    super_format<Q4K>(12),    // Q4_K
    super_format<Q5K>(13),    // Q5_K
    super_format<Q6K>(14),    // Q6_K
    super_format<Iq4Xs>(23),  // IQ4_XS
    super_format<Tq2_0>(34),  // TQ1_0
    super_format<Tq2_0>(35),  // TQ2_0
};
