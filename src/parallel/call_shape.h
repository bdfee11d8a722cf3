#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "device/tensor.h"
#include "parallel/call.h"

namespace evener::parallel {

// What a call is about; those that meet must say the same.
struct CallShape {
  CallKind kind = CallKind::all_reduce;
  uint32_t root = 0;
  uint32_t rows = 0;
  uint32_t cols = 0;
  bool operator==(const CallShape&) const = default;

  static CallShape of(CallKind kind, const device::Tensor& x, size_t root = 0) {
    return {kind, uint32_t(root), uint32_t(x.rows), uint32_t(x.cols)};
  }
  size_t size() const { return size_t{rows} * cols; }
};

std::string to_text(const CallShape& shape);  // "all-reduce of [4, 1024]"

// Values [begin, begin + count) of a tensor or of a piece of one.
struct Share {
  size_t begin = 0;
  size_t count = 0;
};

// What the rank sums of a piece; shares begin on lines of the cache.
Share share_of(size_t rank, size_t num_ranks, size_t count);

}  // namespace evener::parallel
