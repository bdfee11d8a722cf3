#pragma once

#include <cstddef>

#include "base/assert.h"
#include "device/batch.h"
#include "device/caches.h"

// What every device takes for granted of a batch. A batch that is otherwise is the caller's bug.
namespace evener::device {

// Slices cover the rows in order.
inline void check_slices(const Batch& batch) {
  size_t row = 0;
  for (const Slice& slice : batch.slices) {
    EVENER_ASSERT(slice.first_row == row);
    row += slice.num_rows;
  }
  EVENER_ASSERT(row == batch.num_rows);
}

// Every position up to the slice's last has a page of the cache.
inline void check_pages(const Batch& batch, const KvCacheShape& shape) {
  for (const Slice& slice : batch.slices) {
    const size_t end = slice.first_position + slice.num_rows;
    const size_t num_pages = (end + shape.page_size - 1) / shape.page_size;
    EVENER_ASSERT(slice.pages.size() >= num_pages);
    for (const int32_t page : slice.pages.first(num_pages)) {
      EVENER_ASSERT(page >= 0);
      EVENER_ASSERT(size_t(page) < shape.num_pages);
    }
  }
}

// The same of rows, and every slice has a slot of the cache.
inline void check_slots(const Batch& batch, const StateCacheShape& shape) {
  check_slices(batch);
  for (const Slice& slice : batch.slices) {
    EVENER_ASSERT(slice.state_slot >= 0);
    EVENER_ASSERT(size_t(slice.state_slot) < shape.num_slots);
  }
}

}  // namespace evener::device
