// The table that an ISA file exports.
template <class F>
constexpr FormatKernels super_format(uint32_t dtype) {
  return {dtype, Activations::q8_k, 256, F::kLaneBytes, super_few_rows<F>, super_many_rows<F>};
}

template <class F>
constexpr FormatKernels small_format(uint32_t dtype) {
  return {dtype, Activations::q8_0, 32, F::kLaneBytes, small_few_rows<F>, small_many_rows<F>};
}

template <class F>
constexpr FormatKernels float_format(uint32_t dtype) {
  return {dtype, Activations::f32, 1, F::kLaneBytes, float_few_rows<F>, float_many_rows<F>};
}

constexpr FormatKernels kFormats[] = {
    float_format<F32Weights>(0),   // F32
    float_format<F16Weights>(1),   // F16
    small_format<Q4_0>(2),         // Q4_0
    small_format<Q4_1>(3),         // Q4_1
    small_format<Q5_0>(6),         // Q5_0
    small_format<Q5_1>(7),         // Q5_1
    small_format<Q8_0>(8),         // Q8_0
    super_format<Q4K>(12),         // Q4_K
    super_format<Q5K>(13),         // Q5_K
    super_format<Q6K>(14),         // Q6_K
    float_format<Bf16Weights>(30)  // BF16
};
