#pragma once

#include <cstddef>

#include "base/assert.h"

namespace evener::device {

// Memory of one device. Made by Device::allocate, freed with the object. Contents are reached
// through the device only.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual size_t size_bytes() const = 0;
};

// A matrix of f32 values in a buffer: rows lie `stride` floats apart, columns are neighbours. A
// handle, copied freely; it owns nothing and is valid as long as its buffer. `rows` may be 0.
struct Tensor {
  Buffer* buffer = nullptr;
  size_t offset = 0;  // of the first value, in floats
  size_t rows = 0;
  size_t cols = 0;
  size_t stride = 0;

  // Columns [begin, begin + count) of every row.
  Tensor columns(size_t begin, size_t count) const {
    EVENER_ASSERT(begin + count <= cols);
    return {buffer, offset + begin, rows, count, stride};
  }

  // Rows [begin, begin + count).
  Tensor row_range(size_t begin, size_t count) const {
    EVENER_ASSERT(begin + count <= rows);
    return {buffer, offset + begin * stride, count, cols, stride};
  }

  // [rows, heads * width] seen as [rows * heads, width].
  Tensor split_heads(size_t heads) const {
    EVENER_ASSERT(stride == cols);
    EVENER_ASSERT(cols % heads == 0);
    return {buffer, offset, rows * heads, cols / heads, cols / heads};
  }

  // [rows * heads, width] seen as [rows, heads * width].
  Tensor join_heads(size_t heads) const {
    EVENER_ASSERT(stride == cols);
    EVENER_ASSERT(rows % heads == 0);
    return {buffer, offset, rows / heads, cols * heads, cols * heads};
  }
};

}  // namespace evener::device
