#include "cache/slot_pool.h"

#include "base/assert.h"

namespace evener::cache {

SlotPool::SlotPool(size_t num_slots) : taken_(num_slots, false) {
  free_.reserve(num_slots);
  for (size_t slot = num_slots; slot > 0; --slot) free_.push_back(static_cast<int32_t>(slot - 1));
}

int32_t SlotPool::take() {
  EVENER_ASSERT(!free_.empty());
  const int32_t slot = free_.back();
  free_.pop_back();
  taken_[static_cast<size_t>(slot)] = true;
  return slot;
}

void SlotPool::give_back(int32_t slot) {
  EVENER_ASSERT(slot >= 0);
  EVENER_ASSERT(static_cast<size_t>(slot) < taken_.size());
  EVENER_ASSERT(taken_[static_cast<size_t>(slot)]);
  taken_[static_cast<size_t>(slot)] = false;
  free_.push_back(slot);
}

}  // namespace evener::cache
