#include "device/vulkan/arena.h"

#include <algorithm>

namespace evener::device::vulkan {
namespace {

constexpr size_t kPieceAlignment = 64;
constexpr size_t kArenaBlockBytes = size_t{1} << 20;

}  // namespace

Arena::~Arena() {
  for (const GpuMemory& block : blocks_) gpu_->free(block);
}

Result<SharedPiece> Arena::take(size_t size_bytes) {
  const size_t size =
      (std::max<size_t>(size_bytes, 1) + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
  while (block_ < blocks_.size() && offset_ + size > blocks_[block_].size_bytes) {
    ++block_;
    offset_ = 0;
  }
  if (block_ == blocks_.size()) {
    ASSIGN_OR_RETURN(const GpuMemory block, gpu_->allocate(std::max(size, kArenaBlockBytes), kind_,
                                                           "what a step brings along"));
    blocks_.push_back(block);
  }
  const GpuMemory& block = blocks_[block_];
  const SharedPiece piece = {.host = block.host + offset_,
                             .address = block.address + offset_,
                             .buffer = block.buffer,
                             .offset = offset_};
  offset_ += size;
  used_bytes_ += size;
  return piece;
}

void Arena::clear() {
  block_ = 0;
  offset_ = 0;
  used_bytes_ = 0;
}

}  // namespace evener::device::vulkan
