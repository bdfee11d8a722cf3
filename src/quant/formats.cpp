#include "quant/formats.h"

namespace evener::quant {
namespace {

const Format* const kFormats[] = {&f32,  &f16,  &bf16, &q4_0, &q4_1, &q5_0,
                                  &q5_1, &q8_0, &q4_k, &q5_k, &q6_k};

}  // namespace

const Format* find_format(DType dtype) {
  for (const Format* const format : kFormats) {
    if (format->dtype == dtype) return format;
  }
  return nullptr;
}

std::span<const Format* const> formats() { return kFormats; }

}  // namespace evener::quant
