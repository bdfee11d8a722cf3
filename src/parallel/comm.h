#pragma once

#include <cstddef>

#include "device/device.h"

namespace evener::parallel {

// The ranks that hold shards of the same layers, as one of them sees them. Collective calls are
// made by all of them in the same order.
class Comm {
 public:
  virtual ~Comm() = default;
  virtual size_t rank() const = 0;
  virtual size_t size() const = 0;

  // x on every rank becomes the sum over ranks, added in rank order: the same bits everywhere.
  virtual void all_reduce(device::Device& device, const device::Tensor& x) = 0;
};

// A rank on its own: nothing to sum.
class SoloComm final : public Comm {
 public:
  size_t rank() const override { return 0; }
  size_t size() const override { return 1; }
  void all_reduce(device::Device&, const device::Tensor&) override {}
};

}  // namespace evener::parallel
