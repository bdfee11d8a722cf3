#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evener::cache {

// Numbers below a fixed count, in the order in which they were pushed: what was used least recently
// comes first. Each is in it at most once; every call takes constant time and no memory. One
// thread.
class RecencyList {
 public:
  static constexpr int32_t kNone = -1;

  explicit RecencyList(size_t count) : links_(count) {}

  void push_newest(int32_t item);  // which is not in the list
  void remove(int32_t item);       // which is

  bool contains(int32_t item) const { return links_[static_cast<size_t>(item)].listed; }
  int32_t oldest() const { return oldest_; }  // kNone: empty
  int32_t newer_than(int32_t item) const { return links_[static_cast<size_t>(item)].newer; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct Link {
    int32_t older = kNone;
    int32_t newer = kNone;
    bool listed = false;
  };

  Link& link(int32_t item) { return links_[static_cast<size_t>(item)]; }

  std::vector<Link> links_;
  int32_t oldest_ = kNone;
  int32_t newest_ = kNone;
  size_t size_ = 0;
};

}  // namespace evener::cache
