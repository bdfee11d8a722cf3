#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "cache/page_pool.h"
#include "cache/slot_pool.h"
#include "sched/first_come.h"

namespace evener::engine {

struct ResidencyOptions {
  size_t num_pages = 0;
  size_t page_size = 0;
  size_t num_state_slots = 0;  // 0 in models without recurrent layers: no sequence needs one
};

// Which KV pages and which state slot the running sequences hold: the one owner of both pools.
// One thread.
class Residency {
 public:
  explicit Residency(const ResidencyOptions& options);

  // What may still be promised.
  sched::first_come::Room room() const;

  // Sets `num_pages` aside and takes a state slot. There was room for both.
  void admit(sched::SequenceId id, size_t num_pages);

  // Takes pages so that positions [0, position_end) have a place; within what was set aside.
  void cover(sched::SequenceId id, size_t position_end);

  // Valid until the sequence grows or is released.
  std::span<const int32_t> pages(sched::SequenceId id) const { return places_.at(id).pages; }
  int32_t state_slot(sched::SequenceId id) const { return places_.at(id).state_slot; }

  // Gives everything back. Ids that hold nothing are ignored.
  void release(sched::SequenceId id);

  const cache::PagePool& page_pool() const { return pages_; }
  const cache::SlotPool& slot_pool() const { return slots_; }

 private:
  struct Place {
    std::vector<int32_t> pages;
    size_t num_reserved = 0;  // and not taken
    int32_t state_slot = -1;
  };

  size_t page_size_;
  cache::PagePool pages_;
  cache::SlotPool slots_;
  std::unordered_map<sched::SequenceId, Place> places_;
};

}  // namespace evener::engine
