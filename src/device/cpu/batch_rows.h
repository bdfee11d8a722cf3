#pragma once

#include <algorithm>
#include <cstddef>

#include "base/assert.h"
#include "device/batch.h"

namespace evener::device::cpu {

// The slice that holds a row of the batch.
inline const Slice& slice_of(const Batch& batch, size_t row) {
  const auto after = std::upper_bound(batch.slices.begin(), batch.slices.end(), row,
                                      [](size_t r, const Slice& s) { return r < s.first_row; });
  EVENER_ASSERT(after != batch.slices.begin());
  return *(after - 1);
}

}  // namespace evener::device::cpu
