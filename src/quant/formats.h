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
extern const Format q2_k;
extern const Format q3_k;
extern const Format q4_k;
extern const Format q5_k;
extern const Format q6_k;
extern const Format iq1_s;
extern const Format iq1_m;
extern const Format iq2_xxs;
extern const Format iq2_xs;
extern const Format iq2_s;
extern const Format iq3_xxs;
extern const Format iq3_s;
extern const Format iq4_nl;
extern const Format iq4_xs;
extern const Format tq1_0;
extern const Format tq2_0;
extern const Format mxfp4;
extern const Format nvfp4;
extern const Format q1_0;
extern const Format q2_0;

}  // namespace evener::quant
