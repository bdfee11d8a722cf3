// All that a table of formats stands on, for both kinds of tables and every instruction set.
#include "device/cpu/kernels/linear_sums.inl"
//
#include "device/cpu/kernels/linear_float.inl"
#include "device/cpu/kernels/linear_small.inl"
#include "device/cpu/kernels/linear_super.inl"

template <class F>
constexpr FormatKernels super_format(uint32_t dtype) {
  return {dtype, Activations::q8_k, 256, F::kLaneBytes, super_few_rows<F>, super_many_rows<F>};
}

template <class F>
constexpr FormatKernels small_format(uint32_t dtype) {
  return {dtype,         Activations::q8_0, 32 * F::kPanels,
          F::kLaneBytes, small_few_rows<F>, small_many_rows<F>};
}

template <class F>
constexpr FormatKernels float_format(uint32_t dtype) {
  return {dtype, Activations::f32, 1, F::kLaneBytes, float_few_rows<F>, float_many_rows<F>};
}
