#pragma once

#include "reference/matrix.h"

namespace evener::reference {

// What caches of a type make of keys and values.

// Eleven significant bits; the tests' values are normal halves or so small that the difference does
// not matter.
Matrix round_to_f16(const Matrix& values);

// Blocks of 32 neighbours of a row: steps of the f16 nearest to the largest size over 127. Formed
// in f32, as the definition says.
Matrix round_to_q8_0(const Matrix& values);

// Four significant bits, from 2^-6 downwards a grid of 2^-9; sizes above 448 become 448.
Matrix round_to_fp8(const Matrix& values);

}  // namespace evener::reference
