#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evener::cache {

// Numbers of the slots that keep recurrent states, one a sequence. One thread. Taking from an empty
// pool, or giving back a slot that is not out, is our own bug and aborts.
class SlotPool {
 public:
  explicit SlotPool(size_t num_slots);

  int32_t take();
  void give_back(int32_t slot);

  size_t num_slots() const { return taken_.size(); }
  size_t num_available() const { return free_.size(); }
  size_t num_taken() const { return num_slots() - num_available(); }

 private:
  std::vector<int32_t> free_;  // the last one goes first
  std::vector<bool> taken_;
};

}  // namespace evener::cache
