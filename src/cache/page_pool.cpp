#include "cache/page_pool.h"

#include "base/assert.h"

namespace evener::cache {

PagePool::PagePool(size_t num_pages) : taken_(num_pages, false) {
  free_.reserve(num_pages);
  for (size_t page = num_pages; page > 0; --page) free_.push_back(static_cast<int32_t>(page - 1));
}

bool PagePool::reserve(size_t count) {
  if (count > num_available()) return false;
  num_reserved_ += count;
  return true;
}

void PagePool::unreserve(size_t count) {
  EVENER_ASSERT(count <= num_reserved_);
  num_reserved_ -= count;
}

int32_t PagePool::take() {
  EVENER_ASSERT(num_reserved_ > 0);
  --num_reserved_;
  const int32_t page = free_.back();
  free_.pop_back();
  taken_[static_cast<size_t>(page)] = true;
  return page;
}

void PagePool::give_back(int32_t page) {
  EVENER_ASSERT(page >= 0);
  EVENER_ASSERT(static_cast<size_t>(page) < taken_.size());
  EVENER_ASSERT(taken_[static_cast<size_t>(page)]);
  taken_[static_cast<size_t>(page)] = false;
  free_.push_back(page);
}

}  // namespace evener::cache
