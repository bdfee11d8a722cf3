// The formats whose codes name points of a codebook.
#include "device/cpu/kernels/codebook.inl"
//
#include "device/cpu/kernels/iq1.inl"
#include "device/cpu/kernels/iq2.inl"
#include "device/cpu/kernels/iq3.inl"

constexpr FormatKernels kFormats[] = {
    super_format<Iq2Xxs>(16),  // IQ2_XXS
    super_format<Iq2Xs>(17),   // IQ2_XS
    super_format<Iq3Xxs>(18),  // IQ3_XXS
    super_format<Iq1S>(19),    // IQ1_S
    super_format<Iq3S>(21),    // IQ3_S
    super_format<Iq2S>(22),    // IQ2_S
    super_format<Iq1M>(29),    // IQ1_M
};
