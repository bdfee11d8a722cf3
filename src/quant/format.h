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
  // f32 to whole blocks, with a small sum of importance[i] * (weight[i] - decoded[i])^2; null if
  // Evener does not write this type. weights.size() is a multiple of the block's values and
  // `blocks` has the bytes for them. `importance` is empty, which makes all weights equal, or as
  // long as `weights`, finite and not negative; only its ratios within a block matter. Weights are
  // to be finite: one that is not makes a block of no meaning, but crashes nothing. What is too
  // large for a format becomes its largest value. Judge: tests/quant/encode_test.cpp.
  void (*encode)(std::span<const float> weights, std::span<const float> importance,
                 std::span<std::byte> blocks) = nullptr;
};

// Null if Evener cannot read this type.
const Format* find_format(DType dtype);

// All formats, for messages and tests.
std::span<const Format* const> formats();

}  // namespace evener::quant
