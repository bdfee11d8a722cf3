#pragma once

#include <cstddef>

#include "base/error.h"
#include "device/device.h"

namespace evener::parallel {

// A group of ranks as one of them sees it. Collective calls are made by all members in the same
// order, each from its own rank's thread.
//
// A member that does not come in time, has ended, or whose data disagree breaks the group. From
// then on every call returns at once and leaves its tensors as they are; status() names the member
// and what it did, and results made since then are worthless.
class Comm {
 public:
  virtual ~Comm() = default;
  virtual size_t rank() const = 0;
  virtual size_t size() const = 0;

  // x on every rank becomes the sum over ranks, added in rank order: the same bits everywhere,
  // whatever way the data take.
  virtual void all_reduce(device::Device& device, const device::Tensor& x) = 0;

  // `whole` on rank `root` becomes all ranks' parts side by side, in rank order. Parts may differ
  // in their columns; whole has as many as all of them. On other ranks `whole` is not looked at.
  virtual void gather(device::Device& device, size_t root, const device::Tensor& part,
                      const device::Tensor& whole) = 0;

  // x on every rank becomes that of rank `root`.
  virtual void broadcast(device::Device& device, size_t root, const device::Tensor& x) = 0;

  // From one rank to another; both name the same shape. Between two ranks data arrive in the order
  // in which they were sent. send() may return before x is received, but x may change then.
  virtual void send(device::Device& device, size_t to, const device::Tensor& x) = 0;
  virtual void receive(device::Device& device, size_t from, const device::Tensor& x) = 0;

  // Breaks the group if x, which should be the same bits on all ranks, is not: names the rank that
  // differs from most others, or all where there is no majority.
  virtual void verify_same(device::Device& device, const device::Tensor& x) = 0;

  // Error: unavailable, once the group is broken. From any thread.
  virtual Status status() const = 0;

  // Breaks the group, and with it the grid that it belongs to, unless it is broken already. From
  // any thread.
  virtual void break_with(Error error) = 0;
};

// A rank on its own: nothing to sum, nobody to send to.
class SoloComm final : public Comm {
 public:
  size_t rank() const override { return 0; }
  size_t size() const override { return 1; }
  void all_reduce(device::Device&, const device::Tensor&) override {}
  void gather(device::Device&, size_t, const device::Tensor&, const device::Tensor&) override;
  void broadcast(device::Device&, size_t, const device::Tensor&) override {}
  void send(device::Device&, size_t, const device::Tensor&) override;
  void receive(device::Device&, size_t, const device::Tensor&) override;
  void verify_same(device::Device&, const device::Tensor&) override {}
  Status status() const override { return {}; }
  void break_with(Error) override {}
};

}  // namespace evener::parallel
