#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evener::cache {

// Numbers of the pages of a KV cache: who holds which is the caller's to remember.
//
// A sequence first reserves as many pages as it can ever need, then takes them one by one as it
// grows, so it never finds the pool empty half way. Pages come out lowest number first of those
// never used, then the last one given back. One thread.
//
// Taking without a reservation, or giving back a page that is not out, is our own bug and aborts.
class PagePool {
 public:
  explicit PagePool(size_t num_pages);

  // Sets `count` free pages aside, if there are that many.
  [[nodiscard]] bool reserve(size_t count);
  // Gives up `count` pages of a reservation that were not taken.
  void unreserve(size_t count);

  // Takes one of the reserved pages.
  int32_t take();
  void give_back(int32_t page);

  size_t num_pages() const { return taken_.size(); }
  size_t num_taken() const { return num_pages() - free_.size(); }
  size_t num_reserved() const { return num_reserved_; }  // and not taken
  size_t num_available() const { return free_.size() - num_reserved_; }

 private:
  std::vector<int32_t> free_;  // the last one goes first
  std::vector<bool> taken_;
  size_t num_reserved_ = 0;
};

}  // namespace evener::cache
