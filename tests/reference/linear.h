#pragma once

#include <cstddef>
#include <span>

#include "reference/matrix.h"
#include "tensor/dtype.h"

namespace evener::reference {

// A weight as a file stores it.
struct StoredWeight {
  DType dtype;
  size_t outputs;
  size_t inputs;
  std::span<const std::byte> bytes;
};

// Activations as llama.cpp rounds them for a weight of `dtype`: 8 bits in blocks of 32 (scale f16)
// or 256 (scale f32), or not at all for float weights.
Matrix rounded_activations(DType dtype, const Matrix& x);

struct LinearResult {
  Matrix y;
  Matrix magnitude;  // the same sums over the sizes of the products: what errors are relative to
};

// y = rounded x times the decoded weights, in doubles. Q4_1 and Q5_1 multiply a block's minimum
// with the block's sum of activations as llama.cpp rounds it to f16.
LinearResult linear(const StoredWeight& weight, const Matrix& x);

}  // namespace evener::reference
