#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "device/vulkan/adapter.h"
#include "device/vulkan/api.h"
#include "device/vulkan/instance.h"

namespace evener::device::vulkan {

// Where memory is, and who may touch it.
enum class MemoryKind {
  device,    // the card's own
  upload,    // the host writes, the card reads: the card's own where the host reaches all of it
  readback,  // the card writes, the host reads
  staging,   // the host's own, that the card copies from
};

// One allocation of the driver as one buffer over all of it, with an address for shaders.
struct GpuMemory {
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t address = 0;
  std::byte* host = nullptr;  // where the host sees it; null for MemoryKind::device
  size_t size_bytes = 0;
  bool is_on_host = false;
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
  uint32_t queue_family() const { return queue_family_; }
  const Adapter& adapter() const { return instance_->adapters()[adapter_]; }
  const Instance& instance() const { return *instance_; }
  VkPhysicalDevice physical_device() const { return instance_->physical_device(adapter_); }

  // Nanoseconds of one tick of a timestamp; 0: the queue has none.
  double nanoseconds_per_tick() const { return nanoseconds_per_tick_; }

  // The type of memory for a kind, of those that bits allow; UINT32_MAX: there is none.
  uint32_t memory_type(uint32_t allowed, MemoryKind kind) const;

  // `what` is for messages. Error: out_of_memory.
  Result<GpuMemory> allocate(size_t size_bytes, MemoryKind kind, const char* what);
  void free(const GpuMemory& memory);

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
  uint32_t queue_family_ = 0;
  double nanoseconds_per_tick_ = 0;
  VkPhysicalDeviceMemoryProperties memory_types_{};
  std::atomic<size_t> host_bytes_ = 0;
  std::atomic<bool> is_abandoned_ = false;
};

}  // namespace evener::device::vulkan
