#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace evener::device::cpu {

// Where memory is to lie.
struct MemoryPlace {
  std::optional<size_t> numa_node = {};  // none: where it is first touched
};

// Zeroed memory of this process, aligned to 64 bytes at least; large ones ask for huge pages.
// Movable; freed with the object. Pages get their place when they are first touched.
class Memory {
 public:
  // Errors: out_of_memory, also when the machine has less free than asked for. `what` is for the
  // message: "state cache". A place that the system does not give is none.
  static Result<Memory> allocate(size_t size_bytes, std::string_view what, MemoryPlace place = {});

  Memory() = default;
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  std::byte* data() const { return data_; }
  float* floats() const { return reinterpret_cast<float*>(data_); }
  size_t size_bytes() const { return size_bytes_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_bytes_ = 0;
  void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
};

}  // namespace evener::device::cpu
