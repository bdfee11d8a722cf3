#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "device/vulkan/gpu.h"

namespace evener::device::vulkan {

// A piece of memory that host and card both reach.
struct SharedPiece {
  std::byte* host = nullptr;
  uint64_t address = 0;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
};

// Memory for what a step brings along or takes home: taken piece by piece, given back at once. The
// same sizes in the same order get the same places, so that a step like an earlier one names the
// same addresses.
class Arena {
 public:
  Arena(std::shared_ptr<Gpu> gpu, MemoryKind kind) : gpu_(std::move(gpu)), kind_(kind) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Error: out_of_memory.
  Result<SharedPiece> take(size_t size_bytes);
  void clear();
  size_t used_bytes() const { return used_bytes_; }

 private:
  std::shared_ptr<Gpu> gpu_;
  MemoryKind kind_;
  std::vector<GpuMemory> blocks_;
  size_t block_ = 0;   // that pieces are taken from
  size_t offset_ = 0;  // in it
  size_t used_bytes_ = 0;
};

}  // namespace evener::device::vulkan
