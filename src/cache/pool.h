#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evener::cache {

// The numbers from 0 of places that are all alike: pages of a KV cache, slots of recurrent states.
// Who holds which is the caller's to remember. Numbers come out lowest first of those never used,
// and before them the last one given back. One thread. Taking from an empty pool, or giving back
// what is not out, is our own bug and aborts.
class Pool {
 public:
  explicit Pool(size_t size);

  int32_t take();
  void give_back(int32_t place);

  size_t size() const { return taken_.size(); }
  size_t num_available() const { return free_.size(); }
  size_t num_taken() const { return size() - num_available(); }

 private:
  std::vector<int32_t> free_;  // the last one goes first
  std::vector<bool> taken_;
};

}  // namespace evener::cache
