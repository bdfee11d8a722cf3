#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "device/device.h"
#include "device/tensor.h"

namespace evener::device {

// A way from one device's memory to another's without the host: an inbox on the receiving device
// that the sending one writes into. It has slots, each of which is filled, then emptied: who uses
// the link sees to it that they take turns, and that what it gives away was proven to be right
// (device/burn_in.h).
class PeerLink {
 public:
  static constexpr size_t kNumSlots = 2;

  virtual ~PeerLink() = default;
  virtual std::string_view how() const = 0;  // "opaque fd"
  virtual size_t slot_bytes() const = 0;

  // On the sender's thread: the rows of x side by side into the slot; waits until they are there.
  // At most slot_bytes(). False once the sender's status() is an error.
  virtual bool send(size_t slot, const Tensor& x) = 0;

  // On the receiver's thread: y becomes what was sent; waits until the slot is read. False once the
  // receiver's status() is an error.
  virtual bool take(size_t slot, const Tensor& y) = 0;
};

// The link keeps both devices. Errors: unsupported: they are not two cards, or their drivers share
// no memory, saying which lacks what; out_of_memory.
Result<std::unique_ptr<PeerLink>> link_devices(std::shared_ptr<Device> from,
                                               std::shared_ptr<Device> to, size_t slot_bytes);

// Whether both are cards, so that a link between them may be thought of.
bool are_cards(const Device& from, const Device& to);

}  // namespace evener::device
