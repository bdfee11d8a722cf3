#pragma once

#include "doctor/rules.h"

// The rules, by the files of this folder.

namespace evener::doctor {

extern const Rule r01, r02, r03, r04;                      // capture.cpp
extern const Rule r10, r11, r12;                           // devices.cpp
extern const Rule r20, r21, r22;                           // policy.cpp
extern const Rule r30, r38;                                // bar_size.cpp
extern const Rule r31, r32, r33, r34, r35, r36, r37;       // small_bar.cpp
extern const Rule r40, r41;                                // address.cpp
extern const Rule r50, r51, r52, r53;                      // switch_route.cpp
extern const Rule r54, r55, r56, r57, r58, r59;            // root_route.cpp
extern const Rule r60, r61, r62, r63;                      // stability.cpp
extern const Rule r70, r71, r72, r73, r74, r75, r76, r77;  // links.cpp, rates.cpp
extern const Rule r80, r81, r82, r83;                      // verification.cpp

}  // namespace evener::doctor
