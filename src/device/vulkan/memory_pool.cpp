#include "device/vulkan/memory_pool.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace evener::device::vulkan {
namespace {

constexpr size_t kAlignment = 256;                // what every copy and every vector of loads likes
constexpr size_t kBlockBytes = size_t{64} << 20;  // what is larger than half of it has its own
constexpr size_t kNowhere = SIZE_MAX;

size_t round_up(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

void Region::swap(Region& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(block_, other.block_);
  std::swap(address_, other.address_);
  std::swap(buffer_, other.buffer_);
  std::swap(offset_, other.offset_);
  std::swap(size_bytes_, other.size_bytes_);
}

void Region::release() {
  if (pool_) pool_->release(*this);
  pool_.reset();
}

size_t MemoryPool::take(Block& block, size_t size_bytes) {
  const auto free = std::ranges::find_if(
      block.free_at, [&](const auto& each) { return each.second >= size_bytes; });
  if (free == block.free_at.end()) return kNowhere;
  const auto [offset, size] = *free;
  block.free_at.erase(free);
  if (size > size_bytes) block.free_at[offset + size_bytes] = size - size_bytes;
  return offset;
}

Result<Region> MemoryPool::allocate(size_t size_bytes, const char* what) {
  const size_t size = round_up(std::max<size_t>(size_bytes, 1));
  const std::lock_guard lock(mutex_);
  size_t index = 0;
  size_t offset = kNowhere;
  for (; index < blocks_.size() && offset == kNowhere; ++index) {
    offset = take(blocks_[index], size);
    if (offset != kNowhere) break;
  }
  if (offset == kNowhere) {
    const size_t block_bytes = size > kBlockBytes / 2 ? size : kBlockBytes;
    auto memory = gpu_->allocate(block_bytes, MemoryKind::device, what);
    // Where a whole block is no longer there, its part may be.
    if (!memory && block_bytes > size) memory = gpu_->allocate(size, MemoryKind::device, what);
    if (!memory) return memory.error();
    const auto gap = std::ranges::find_if(
        blocks_, [](const Block& each) { return each.memory.buffer == VK_NULL_HANDLE; });
    index = size_t(gap - blocks_.begin());
    if (gap == blocks_.end()) blocks_.emplace_back();
    blocks_[index] = {.memory = *memory, .free_at = {{0, memory->size_bytes}}};
    offset = take(blocks_[index], size);
  }
  const GpuMemory& memory = blocks_[index].memory;
  Region region;
  region.pool_ = shared_from_this();
  region.block_ = index;
  region.address_ = memory.address + offset;
  region.buffer_ = memory.buffer;
  region.offset_ = offset;
  region.size_bytes_ = size;
  return region;
}

void MemoryPool::release(const Region& region) {
  const std::lock_guard lock(mutex_);
  Block& block = blocks_[region.block_];
  auto place = block.free_at.emplace(region.offset_, region.size_bytes_).first;
  if (const auto next = std::next(place);
      next != block.free_at.end() && place->first + place->second == next->first) {
    place->second += next->second;
    block.free_at.erase(next);
  }
  if (place != block.free_at.begin()) {
    const auto before = std::prev(place);
    if (before->first + before->second == place->first) {
      before->second += place->second;
      block.free_at.erase(place);
      place = before;
    }
  }
  if (place->second != block.memory.size_bytes) return;
  // What was recorded with it may still run.
  gpu_->wait_until_idle();
  gpu_->free(block.memory);
  block = {};
  ++generation_;
}

MemoryPool::~MemoryPool() {
  for (const Block& block : blocks_) EVENER_ASSERT(block.memory.buffer == VK_NULL_HANDLE);
}

}  // namespace evener::device::vulkan
