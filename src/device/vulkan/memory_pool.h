#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "device/vulkan/gpu.h"

namespace evener::device::vulkan {

class MemoryPool;

// A part of the card's memory, given back with the object.
class Region {
 public:
  Region() = default;
  ~Region() { release(); }
  Region(Region&& other) noexcept { swap(other); }
  Region& operator=(Region&& other) noexcept {
    if (this != &other) {
      release();
      swap(other);
    }
    return *this;
  }

  uint64_t address() const { return address_; }
  VkBuffer buffer() const { return buffer_; }
  VkDeviceSize offset() const { return offset_; }  // of its first byte in buffer()
  size_t size_bytes() const { return size_bytes_; }

 private:
  friend class MemoryPool;
  void release();
  void swap(Region& other) noexcept;

  std::shared_ptr<MemoryPool> pool_;
  size_t block_ = 0;
  uint64_t address_ = 0;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceSize offset_ = 0;
  size_t size_bytes_ = 0;
};

// The card's own memory in blocks of the driver, of which it allows some thousands, cut into
// regions. Any thread.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  explicit MemoryPool(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~MemoryPool();

  // Not zeroed. Error: out_of_memory.
  Result<Region> allocate(size_t size_bytes, const char* what);

  // Counts the blocks that were given back to the driver: what was recorded with an earlier number
  // may name buffers that are gone.
  size_t generation() const { return generation_; }

  // A buffer that is not of the pool is about to be given back.
  void count_lost_buffer() { ++generation_; }

 private:
  friend class Region;
  struct Block {
    GpuMemory memory;                  // null: given back
    std::map<size_t, size_t> free_at;  // offset to size of what is free, neighbours joined
  };
  static size_t take(Block& block, size_t size_bytes);
  void release(const Region& region);

  std::shared_ptr<Gpu> gpu_;
  std::mutex mutex_;
  std::vector<Block> blocks_;
  std::atomic<size_t> generation_ = 0;
};

}  // namespace evener::device::vulkan
