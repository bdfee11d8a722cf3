#include "device/vulkan/card_link.h"

#include <utility>

#include "base/assert.h"

namespace evener::device::vulkan {
namespace {

constexpr size_t kSlotAlignment = 256;  // of a slot: as MemoryPool's

size_t bytes_of(const Tensor& x) { return x.rows * x.cols * sizeof(float); }

}  // namespace

Result<std::unique_ptr<PeerLink>> CardLink::create(std::shared_ptr<CardDevice> from,
                                                   std::shared_ptr<CardDevice> to,
                                                   size_t slot_bytes) {
  const size_t size = (slot_bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  ASSIGN_OR_RETURN(auto inbox, PeerMemory::create(to->gpu(), from->gpu(), kNumSlots * size));
  return std::unique_ptr<PeerLink>(
      new CardLink(std::move(from), std::move(to), std::move(inbox), size));
}

CardLink::CardLink(std::shared_ptr<CardDevice> from, std::shared_ptr<CardDevice> to,
                   std::unique_ptr<PeerMemory> inbox, size_t slot_bytes)
    : from_(std::move(from)),
      to_(std::move(to)),
      inbox_(std::move(inbox)),
      slot_bytes_(slot_bytes) {}

CardLink::~CardLink() {
  from_->forget_shared_memory();
  to_->forget_shared_memory();
}

SharedPlace CardLink::place(const GpuMemory& memory, size_t slot) const {
  EVENER_ASSERT(slot < kNumSlots);
  const size_t offset = slot * slot_bytes_;
  return {.place = {.buffer = memory.buffer, .offset = offset, .address = memory.address + offset},
          .other_queues = inbox_->other_queues()};
}

bool CardLink::send(size_t slot, const Tensor& x) {
  EVENER_ASSERT(bytes_of(x) <= slot_bytes_);
  return from_->put(x, place(inbox_->at_peer(), slot));
}

bool CardLink::take(size_t slot, const Tensor& y) {
  EVENER_ASSERT(bytes_of(y) <= slot_bytes_);
  return to_->take(place(inbox_->at_owner(), slot), y);
}

}  // namespace evener::device::vulkan
