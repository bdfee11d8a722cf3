#pragma once

#include "quant/format.h"

namespace evener::quant {

// One for each file of this folder; formats.cpp lists them.
extern const Format f32;
extern const Format f16;
extern const Format bf16;
extern const Format q4_0;
extern const Format q4_1;
extern const Format q5_0;
extern const Format q5_1;
extern const Format q8_0;
extern const Format q4_k;
extern const Format q5_k;
extern const Format q6_k;

}  // namespace evener::quant
