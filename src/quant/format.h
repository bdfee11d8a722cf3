#pragma once

#include <cstddef>
#include <span>

#include "base/error.h"
#include "tensor/dtype.h"

namespace evener::quant {

// One way of storing weights. A format is one file of this folder and one line in formats.cpp.
struct Format {
  DType dtype;
  // Whole blocks to f32: blocks.size() is a multiple of the block's bytes, and `weights` has room
  // for all values. Bit-equal to the peer. Judge: tests/quant against golden vectors.
  void (*decode)(std::span<const std::byte> blocks, float* weights);
};

// Null if Evener cannot read this type.
const Format* find_format(DType dtype);

// All formats, for messages and tests.
std::span<const Format* const> formats();

}  // namespace evener::quant
