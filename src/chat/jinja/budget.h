#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "chat/template_limits.h"

namespace evener::chat::jinja {

// What one rendering has used. Values hand back their share of the memory when they die, so a
// budget must outlive them. One thread.
class Budget {
 public:
  explicit Budget(const TemplateLimits& limits) : limits_(limits) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  const TemplateLimits& limits() const { return limits_; }

  // Work done: one node, one element, or bytes_work() for `bytes` read or written.
  Status work(uint64_t steps = 1) {
    steps_ += steps;
    if (steps_ > limits_.num_steps) return out_of_steps();
    return {};
  }
  Status bytes_work(size_t bytes) { return work(1 + bytes / kBytesPerStep); }

  // Checks the size of a string or list before it is made.
  Status check_string(size_t bytes) const;
  Status check_elements(size_t num_elements) const;

  // Takes memory; give_back() returns it.
  Status take(size_t bytes);
  void give_back(size_t bytes) { memory_bytes_ -= bytes; }

 private:
  static constexpr uint64_t kBytesPerStep = 64;

  Error out_of_steps() const;

  TemplateLimits limits_;
  uint64_t steps_ = 0;
  size_t memory_bytes_ = 0;
};

}  // namespace evener::chat::jinja
