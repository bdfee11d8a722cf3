#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "device/forwarding_device.h"

namespace evener::device {

// What the world does to a device.
struct DeviceFate {
  std::atomic<bool> is_lost = false;
  std::shared_ptr<WorkTimes> times = {};  // that it was asked to measure into
  bool measures = false;
  std::function<void()> sign = {};  // that it was asked to give while it waits
};

// Computes as the device inside, and says when it is lost.
class LossyDevice final : public ForwardingDevice {
 public:
  LossyDevice(std::unique_ptr<Device> inner, std::shared_ptr<DeviceFate> fate)
      : ForwardingDevice(std::move(inner)), fate_(std::move(fate)) {}

  Status status() const override {
    if (!fate_->is_lost) return {};
    return Error{.code = Code::unavailable,
                 .doing = "compute",
                 .where = "vulkan:7",
                 .why = "VK_ERROR_DEVICE_LOST",
                 .remedy = {}};
  }
  void while_waiting(std::function<void()> sign) override { fate_->sign = std::move(sign); }
  bool measure(std::shared_ptr<WorkTimes> times) override {
    if (fate_->measures) fate_->times = std::move(times);
    return fate_->measures;
  }

 private:
  std::shared_ptr<DeviceFate> fate_;
};

}  // namespace evener::device
