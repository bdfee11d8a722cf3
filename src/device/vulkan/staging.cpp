#include "device/vulkan/staging.h"

namespace evener::device::vulkan {

Staging::~Staging() {
  if (memory_.buffer != VK_NULL_HANDLE) {
    gpu_->wait_until_idle();
    gpu_->free(memory_);
  }
}

Result<SharedPiece> Staging::next(Steps& steps) {
  if (memory_.buffer == VK_NULL_HANDLE) {
    ASSIGN_OR_RETURN(memory_,
                     gpu_->allocate(kNumPieces * kPieceBytes, MemoryKind::staging, "loading"));
  }
  piece_ = (piece_ + 1) % kNumPieces;
  steps.wait_for(ends_[piece_]);
  RETURN_IF_ERROR(steps.status());
  const size_t offset = piece_ * kPieceBytes;
  return SharedPiece{.host = memory_.host + offset,
                     .address = memory_.address + offset,
                     .buffer = memory_.buffer,
                     .offset = offset};
}

void Staging::send(Steps& steps) {
  steps.hand_over();
  ends_[piece_] = steps.number();
}

}  // namespace evener::device::vulkan
