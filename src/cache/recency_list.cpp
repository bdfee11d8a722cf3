#include "cache/recency_list.h"

#include "base/assert.h"

namespace evener::cache {

void RecencyList::push_newest(int32_t item) {
  EVENER_ASSERT(!contains(item));
  link(item) = {.older = newest_, .newer = kNone, .listed = true};
  (newest_ == kNone ? oldest_ : link(newest_).newer) = item;
  newest_ = item;
  ++size_;
}

void RecencyList::remove(int32_t item) {
  EVENER_ASSERT(contains(item));
  const Link gone = link(item);
  (gone.older == kNone ? oldest_ : link(gone.older).newer) = gone.newer;
  (gone.newer == kNone ? newest_ : link(gone.newer).older) = gone.older;
  link(item) = {};
  --size_;
}

}  // namespace evener::cache
