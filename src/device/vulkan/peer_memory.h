#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "device/vulkan/gpu.h"

namespace evener::device::vulkan {

// What memory is handed to another device as.
enum class PeerHandle {
  dma_buf,    // the kernel's: between devices of any drivers
  opaque_fd,  // a driver's own: between logical devices of one card
};
std::string_view to_string(PeerHandle handle);  // "dma-buf"

// Memory of one device that another sees too, and so can write into without the host. Any thread.
class PeerMemory {
 public:
  // By the first handle that both devices take. Not zeroed. Errors: unsupported, saying which of
  // the two lacks what; out_of_memory.
  static Result<std::unique_ptr<PeerMemory>> create(const std::shared_ptr<Gpu>& owner,
                                                    const std::shared_ptr<Gpu>& peer,
                                                    size_t size_bytes);

  // Waits for both.
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  PeerHandle handle() const { return handle_; }
  const GpuMemory& at_owner() const { return at_owner_; }
  const GpuMemory& at_peer() const { return at_peer_; }

  // That each side names the other's queues by when the memory changes hands.
  uint32_t other_queues() const { return other_queues_; }

 private:
  struct Kept;  // whether the memory must be a buffer's alone, and of what size and type it is

  PeerMemory(std::shared_ptr<Gpu> owner, std::shared_ptr<Gpu> peer, PeerHandle handle);
  static Result<std::unique_ptr<PeerMemory>> create_as(PeerHandle handle,
                                                       const std::shared_ptr<Gpu>& owner,
                                                       const std::shared_ptr<Gpu>& peer,
                                                       size_t size_bytes);
  Status allocate(size_t size_bytes, Kept& kept);
  Status import(const Kept& kept);
  Error refused(const Gpu& gpu, std::string_view what, VkResult result) const;

  std::shared_ptr<Gpu> owner_;
  std::shared_ptr<Gpu> peer_;
  PeerHandle handle_;
  uint32_t other_queues_;
  GpuMemory at_owner_;
  GpuMemory at_peer_;
};

}  // namespace evener::device::vulkan
