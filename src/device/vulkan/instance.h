#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/error.h"
#include "device/vulkan/adapter.h"
#include "device/vulkan/api.h"

namespace evener::device::vulkan {

// Vulkan on this machine: the loader, and the graphics processors that its drivers know. One a
// process, since some drivers take a second to start. With the environment variable
// EVENER_VULKAN_VALIDATION=1 the Khronos validation layer watches all calls; what it says is logged
// and counted.
class Instance {
 public:
  // Errors: unsupported: there is no loader, or no driver; the layer is asked for and not there.
  static Result<std::shared_ptr<Instance>> get();

  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const InstanceApi& api() const { return api_; }

  // As the loader lists them; the place in it is Adapter::index. Memory that is free is as it was
  // when the list was made.
  const std::vector<Adapter>& adapters() const { return adapters_; }
  VkPhysicalDevice physical_device(size_t index) const { return physical_devices_[index]; }

  // Bytes of an adapter's memory that a process may still take, where the driver tells; else what
  // it has in all.
  size_t free_bytes(size_t index) const;

  // A device of it was given up: the instance stays until the process ends.
  void abandon() { is_abandoned_ = true; }

  // Of errors and warnings by the validation layer.
  size_t num_complaints() const { return num_complaints_; }

 private:
  Instance() = default;
  static Result<std::shared_ptr<Instance>> create();
  Status open();
  void watch_messages();

  void* library_ = nullptr;
  GlobalApi global_;
  InstanceApi api_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  std::vector<VkPhysicalDevice> physical_devices_;
  std::vector<Adapter> adapters_;
  std::atomic<size_t> num_complaints_ = 0;
  std::atomic<bool> is_abandoned_ = false;
};

}  // namespace evener::device::vulkan
