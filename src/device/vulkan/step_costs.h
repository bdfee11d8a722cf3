#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace evener::device::vulkan {

// What a call moves and computes at least: bytes of memory that are read once or written, and
// multiplications and additions.
struct Cost {
  uint64_t bytes = 0;
  uint64_t operations = 0;
};

// What the calls of some steps come to, by kernel.
class StepCosts {
 public:
  struct Entry {
    size_t calls = 0;
    uint64_t bytes = 0;
    uint64_t operations = 0;
  };

  void add(std::string_view kernel, const Cost& cost) {
    Entry& entry = entries_[std::string(kernel)];
    ++entry.calls;
    entry.bytes += cost.bytes;
    entry.operations += cost.operations;
  }
  void clear() { entries_.clear(); }
  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  std::map<std::string, Entry> entries_;
};

}  // namespace evener::device::vulkan
