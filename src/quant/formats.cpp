#include "quant/formats.h"

namespace evener::quant {
namespace {

const Format* const kFormats[] = {&f32,    &f16,     &bf16,   &q4_0,  &q4_1,    &q5_0,  &q5_1,
                                  &q8_0,   &q2_k,    &q3_k,   &q4_k,  &q5_k,    &q6_k,  &iq1_s,
                                  &iq1_m,  &iq2_xxs, &iq2_xs, &iq2_s, &iq3_xxs, &iq3_s, &iq4_nl,
                                  &iq4_xs, &tq1_0,   &tq2_0,  &mxfp4, &nvfp4,   &q1_0,  &q2_0};

}  // namespace

const Format* find_format(DType dtype) {
  for (const Format* const format : kFormats) {
    if (format->dtype == dtype) return format;
  }
  return nullptr;
}

std::span<const Format* const> formats() { return kFormats; }

}  // namespace evener::quant
