#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/error.h"
#include "device/vulkan/adapter.h"
#include "device/vulkan/api.h"
#include "device/vulkan/gpu_memory.h"
#include "device/vulkan/instance.h"

namespace evener::device::vulkan {

// Where memory is, and who may touch it.
enum class MemoryKind {
  device,    // the card's own
  upload,    // the host writes, the card reads: the card's own where the host reaches all of it
  readback,  // the card writes, the host reads
  staging,   // the host's own, that the card copies from
};

// A logical device with one queue that computes and copies. Errors become Error here. Any
// thread may call.
class Gpu {
 public:
  // Errors: invalid_argument (no such adapter), unsupported (it lacks what is needed).
  static Result<std::shared_ptr<Gpu>> create(std::shared_ptr<Instance> instance, size_t adapter);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const DeviceApi& api() const { return api_; }
  VkDevice device() const { return device_; }
  uint32_t queue_family() const { return adapter().queue_family; }
  const Adapter& adapter() const { return instance_->adapters()[adapter_]; }
  const Instance& instance() const { return *instance_; }
  VkPhysicalDevice physical_device() const { return instance_->physical_device(adapter_); }

  // The type of memory for a kind, of those that bits allow; UINT32_MAX: there is none.
  uint32_t memory_type(uint32_t allowed, MemoryKind kind) const;

  // `what` is for messages. Error: out_of_memory.
  Result<GpuMemory> allocate(size_t size_bytes, MemoryKind kind, const char* what);
  void free(const GpuMemory& memory);

  // What to say where the driver has no room for some object of its own.
  Error no_room(std::string_view doing, VkResult result) const;

  // Of the host's memory, that the card was given on purpose.
  size_t host_bytes() const { return host_bytes_; }

  // Any thread.
  VkResult submit(const VkSubmitInfo& submission);
  void wait_until_idle();

  // The card no longer answers, or still computes what it was given up for: what it may still use
  // is left alone from now on, for the process to end with.
  void abandon() {
    is_abandoned_ = true;
    instance_->abandon();
  }
  bool is_abandoned() const { return is_abandoned_; }

 private:
  Gpu(std::shared_ptr<Instance> instance, size_t adapter)
      : instance_(std::move(instance)), adapter_(adapter) {}
  Status open();
  Status load_functions();

  std::shared_ptr<Instance> instance_;
  size_t adapter_;
  DeviceApi api_;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::mutex queue_mutex_;
  VkPhysicalDeviceMemoryProperties memory_types_{};
  std::atomic<size_t> host_bytes_ = 0;
  std::atomic<bool> is_abandoned_ = false;
};

}  // namespace evener::device::vulkan
