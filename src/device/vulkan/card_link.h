#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "device/peer_link.h"
#include "device/vulkan/card_device.h"
#include "device/vulkan/peer_memory.h"

namespace evener::device::vulkan {

// A link of two cards. Each copies on its own queue; between the two copies the host waits for the
// first, which orders them for both.
class CardLink final : public PeerLink {
 public:
  // Errors: as PeerMemory::create().
  static Result<std::unique_ptr<PeerLink>> create(std::shared_ptr<CardDevice> from,
                                                  std::shared_ptr<CardDevice> to,
                                                  size_t slot_bytes);
  ~CardLink() override;
  CardLink(const CardLink&) = delete;
  CardLink& operator=(const CardLink&) = delete;

  std::string_view how() const override { return to_string(inbox_->handle()); }
  size_t slot_bytes() const override { return slot_bytes_; }
  bool send(size_t slot, const Tensor& x) override;
  bool take(size_t slot, const Tensor& y) override;

 private:
  CardLink(std::shared_ptr<CardDevice> from, std::shared_ptr<CardDevice> to,
           std::unique_ptr<PeerMemory> inbox, size_t slot_bytes);
  SharedPlace place(const GpuMemory& memory, size_t slot) const;

  std::shared_ptr<CardDevice> from_;
  std::shared_ptr<CardDevice> to_;
  std::unique_ptr<PeerMemory> inbox_;  // to_ owns it
  size_t slot_bytes_;
};

}  // namespace evener::device::vulkan
