#include "device/vulkan/peer_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace evener::device::vulkan {
namespace {

constexpr size_t kSharedAlignment = size_t{64} << 10;  // what either side may round a buffer up to

VkExternalMemoryHandleTypeFlagBits type_of(PeerHandle handle) {
  return handle == PeerHandle::dma_buf ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
                                       : VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
}

Error cannot_share(std::string where, std::string why) {
  return Error{.code = Code::unsupported,
               .doing = "share memory between cards",
               .where = std::move(where),
               .why = std::move(why),
               .remedy = "data go through the host"};
}

std::string name_of(const Gpu& gpu) { return title_of(gpu.adapter()); }

VkPhysicalDeviceIDProperties ids_of(const Gpu& gpu) {
  VkPhysicalDeviceIDProperties ids{};
  ids.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  all.pNext = &ids;
  gpu.instance().api().GetPhysicalDeviceProperties2(gpu.physical_device(), &all);
  return ids;
}

// A driver's own handles mean something to the same driver on the same card alone.
bool are_one_card(const Gpu& a, const Gpu& b) {
  const VkPhysicalDeviceIDProperties of_a = ids_of(a);
  const VkPhysicalDeviceIDProperties of_b = ids_of(b);
  return std::memcmp(of_a.deviceUUID, of_b.deviceUUID, VK_UUID_SIZE) == 0 &&
         std::memcmp(of_a.driverUUID, of_b.driverUUID, VK_UUID_SIZE) == 0;
}

// An open file, closed with the object unless somebody else has become its owner.
class OpenFile {
 public:
  explicit OpenFile(int fd) : fd_(fd) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }
  void give_away() { fd_ = -1; }

 private:
  int fd_;
};

VkExternalMemoryFeatureFlags features_of(const Gpu& gpu, PeerHandle handle) {
  VkPhysicalDeviceExternalBufferInfo asked{};
  asked.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO;
  asked.usage = kBufferUsage;
  asked.handleType = type_of(handle);
  VkExternalBufferProperties told{};
  told.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES;
  gpu.instance().api().GetPhysicalDeviceExternalBufferProperties(gpu.physical_device(), &asked,
                                                                 &told);
  return told.externalMemoryProperties.externalMemoryFeatures;
}

VkResult make_shared_buffer(const Gpu& gpu, PeerHandle handle, size_t size_bytes,
                            GpuMemory& memory) {
  VkExternalMemoryBufferCreateInfo shared{};
  shared.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
  shared.handleTypes = type_of(handle);
  return make_buffer(gpu.api(), gpu.device(), size_bytes, &shared, memory);
}

}  // namespace

struct PeerMemory::Kept {
  size_t size_bytes = 0;
  uint32_t memory_type = 0;
  bool is_dedicated = false;
};

std::string_view to_string(PeerHandle handle) {
  return handle == PeerHandle::dma_buf ? "dma-buf" : "opaque fd";
}

Result<std::unique_ptr<PeerMemory>> PeerMemory::create(const std::shared_ptr<Gpu>& owner,
                                                       const std::shared_ptr<Gpu>& peer,
                                                       size_t size_bytes) {
  for (const auto& gpu : {owner, peer}) {
    if (gpu->adapter().shares_memory_by_fd) continue;
    return cannot_share(name_of(*gpu), "its driver lacks VK_KHR_external_memory_fd");
  }
  std::vector<PeerHandle> handles;
  const auto has_dma_buf = [](const Gpu& gpu) { return gpu.adapter().shares_memory_as_dma_buf; };
  if (has_dma_buf(*owner) && has_dma_buf(*peer)) handles.push_back(PeerHandle::dma_buf);
  if (are_one_card(*owner, *peer)) handles.push_back(PeerHandle::opaque_fd);
  if (handles.empty()) {
    return cannot_share(name_of(has_dma_buf(*owner) ? *peer : *owner),
                        "its driver lacks VK_EXT_external_memory_dma_buf, and the other is "
                        "another card or has another driver");
  }
  Result<std::unique_ptr<PeerMemory>> made = create_as(handles[0], owner, peer, size_bytes);
  if (!made && handles.size() > 1) made = create_as(handles[1], owner, peer, size_bytes);
  return made;
}

Result<std::unique_ptr<PeerMemory>> PeerMemory::create_as(PeerHandle handle,
                                                          const std::shared_ptr<Gpu>& owner,
                                                          const std::shared_ptr<Gpu>& peer,
                                                          size_t size_bytes) {
  const VkExternalMemoryFeatureFlags of_owner = features_of(*owner, handle);
  if ((of_owner & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) == 0) {
    return cannot_share(name_of(*owner),
                        fmt::format("it gives no buffer away as {}", to_string(handle)));
  }
  const VkExternalMemoryFeatureFlags of_peer = features_of(*peer, handle);
  if ((of_peer & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) == 0) {
    return cannot_share(name_of(*peer), fmt::format("it takes no buffer as {}", to_string(handle)));
  }
  Kept kept;
  kept.is_dedicated = ((of_owner | of_peer) & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) != 0;
  std::unique_ptr<PeerMemory> memory(new PeerMemory(owner, peer, handle));
  RETURN_IF_ERROR(memory->allocate(size_bytes, kept));
  RETURN_IF_ERROR(memory->import(kept));
  return memory;
}

PeerMemory::PeerMemory(std::shared_ptr<Gpu> owner, std::shared_ptr<Gpu> peer, PeerHandle handle)
    : owner_(std::move(owner)), peer_(std::move(peer)), handle_(handle) {
  const bool knows_foreign = owner_->adapter().hands_over_to_foreign_queues &&
                             peer_->adapter().hands_over_to_foreign_queues;
  other_queues_ = handle == PeerHandle::dma_buf && knows_foreign ? VK_QUEUE_FAMILY_FOREIGN_EXT
                                                                 : VK_QUEUE_FAMILY_EXTERNAL;
}

Error PeerMemory::refused(const Gpu& gpu, std::string_view what, VkResult result) const {
  return cannot_share(name_of(gpu),
                      fmt::format("{} as {}: {}", what, to_string(handle_), result_name(result)));
}

Status PeerMemory::allocate(size_t size_bytes, Kept& kept) {
  const Gpu& gpu = *owner_;
  const size_t size = (size_bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
  if (size > gpu.adapter().allocation_bytes_max || size > peer_->adapter().allocation_bytes_max) {
    return refused(gpu, "it has no memory to share", VK_ERROR_OUT_OF_DEVICE_MEMORY);
  }
  VkResult result = make_shared_buffer(gpu, handle_, size, at_owner_);
  if (result != VK_SUCCESS) return refused(gpu, "it makes no buffer to share", result);
  const VkMemoryRequirements needs = needs_of(gpu.api(), gpu.device(), at_owner_);
  kept.size_bytes = needs.size;
  kept.memory_type = gpu.memory_type(needs.memoryTypeBits, MemoryKind::device);
  if (kept.memory_type == UINT32_MAX) {
    return refused(gpu, "it has no memory to share", VK_ERROR_FEATURE_NOT_PRESENT);
  }
  VkExportMemoryAllocateInfo exported{};
  exported.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
  exported.handleTypes = type_of(handle_);
  const Backing backing{.size_bytes = kept.size_bytes,
                        .memory_type = kept.memory_type,
                        .is_dedicated = kept.is_dedicated,
                        .next = &exported};
  result = back(gpu.api(), gpu.device(), backing, at_owner_);
  if (result != VK_SUCCESS) return refused(gpu, "it has no memory to share", result);
  return {};
}

Status PeerMemory::import(const Kept& kept) {
  VkMemoryGetFdInfoKHR asked{};
  asked.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
  asked.memory = at_owner_.memory;
  asked.handleType = type_of(handle_);
  int fd = -1;
  VkResult result = owner_->api().GetMemoryFdKHR(owner_->device(), &asked, &fd);
  if (result != VK_SUCCESS) return refused(*owner_, "it gives no memory away", result);
  OpenFile file(fd);

  const Gpu& gpu = *peer_;
  result = make_shared_buffer(gpu, handle_, at_owner_.size_bytes, at_peer_);
  if (result != VK_SUCCESS) return refused(gpu, "it makes no buffer for another's memory", result);
  const VkMemoryRequirements needs = needs_of(gpu.api(), gpu.device(), at_peer_);
  uint32_t memory_type = kept.memory_type;  // a driver's own handle says which
  if (handle_ == PeerHandle::dma_buf) {
    VkMemoryFdPropertiesKHR told{};
    told.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR;
    result = gpu.api().GetMemoryFdPropertiesKHR(gpu.device(), type_of(handle_), fd, &told);
    if (result != VK_SUCCESS) return refused(gpu, "it does not know another's memory", result);
    const uint32_t allowed = needs.memoryTypeBits & told.memoryTypeBits;
    memory_type = gpu.memory_type(allowed, MemoryKind::device);
    // To this card the other's memory may count as the host's.
    if (memory_type == UINT32_MAX) memory_type = gpu.memory_type(allowed, MemoryKind::staging);
  }
  if (memory_type == UINT32_MAX || needs.size > kept.size_bytes) {
    return refused(gpu, "another's memory does not suit it", VK_ERROR_FEATURE_NOT_PRESENT);
  }
  VkImportMemoryFdInfoKHR imported{};
  imported.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR;
  imported.handleType = type_of(handle_);
  imported.fd = fd;
  const Backing backing{.size_bytes = kept.size_bytes,
                        .memory_type = memory_type,
                        .is_dedicated = kept.is_dedicated,
                        .next = &imported};
  result = back(gpu.api(), gpu.device(), backing, at_peer_);
  if (at_peer_.memory != VK_NULL_HANDLE) file.give_away();  // to the driver
  if (result != VK_SUCCESS) return refused(gpu, "it does not take another's memory", result);
  return {};
}

PeerMemory::~PeerMemory() {
  peer_->wait_until_idle();
  owner_->wait_until_idle();
  peer_->free(at_peer_);
  owner_->free(at_owner_);
}

}  // namespace evener::device::vulkan
