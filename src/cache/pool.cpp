#include "cache/pool.h"

#include "base/assert.h"

namespace evener::cache {

Pool::Pool(size_t size) : taken_(size, false) {
  free_.reserve(size);
  for (size_t place = size; place > 0; --place) free_.push_back(static_cast<int32_t>(place - 1));
}

int32_t Pool::take() {
  EVENER_ASSERT(!free_.empty());
  const int32_t place = free_.back();
  free_.pop_back();
  taken_[static_cast<size_t>(place)] = true;
  return place;
}

void Pool::give_back(int32_t place) {
  EVENER_ASSERT(place >= 0);
  EVENER_ASSERT(static_cast<size_t>(place) < taken_.size());
  EVENER_ASSERT(taken_[static_cast<size_t>(place)]);
  taken_[static_cast<size_t>(place)] = false;
  free_.push_back(place);
}

}  // namespace evener::cache
