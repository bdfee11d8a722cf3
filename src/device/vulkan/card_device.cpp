#include "device/vulkan/card_device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "device/vulkan/codebook_memory.h"
#include "device/vulkan/vulkan_routing.h"

namespace evener::device::vulkan {

RowGroups spread_rows(size_t rows) {
  constexpr size_t kGroupsMax = 65'535;  // that Vulkan promises in each direction
  const size_t y = std::min(rows, kGroupsMax);
  return {uint32_t(y), rows == 0 ? 0 : groups_of(rows, y)};
}

CardDevice::CardDevice(std::shared_ptr<Gpu> gpu, DeviceInfo info)
    : gpu_(std::move(gpu)), info_(std::move(info)), pool_(std::make_shared<MemoryPool>(gpu_)) {}

Result<std::unique_ptr<CardDevice>> CardDevice::create(std::shared_ptr<Gpu> gpu, DeviceInfo info,
                                                       const Steps::Options& options) {
  std::unique_ptr<CardDevice> device(new CardDevice(std::move(gpu), std::move(info)));
  RETURN_IF_ERROR(device->open(options));
  return device;
}

Status CardDevice::open(const Steps::Options& options) {
  ASSIGN_OR_RETURN(auto pipelines, Pipelines::create(gpu_, pipeline_cache_file(gpu_->adapter())));
  ASSIGN_OR_RETURN(steps_, Steps::create(gpu_, pool_, std::move(pipelines), options));
  staging_ = std::make_unique<Staging>(gpu_);
  return bring_codebooks();
}

Status CardDevice::bring_codebooks() {
  const std::vector<uint32_t> words = codebook_words();
  const auto bytes = std::as_bytes(std::span(words));
  ASSIGN_OR_RETURN(codebooks_, pool_->allocate(bytes.size(), "codebooks"));
  write_bytes(bytes, place_in(codebooks_), Work::copies);
  return steps_->status();
}

// Without a clock of its own the card's waits are all that can be seen, from outside.
bool CardDevice::measure(std::shared_ptr<WorkTimes> times) {
  if (gpu_->adapter().nanoseconds_per_tick <= 0) return false;
  steps_->measure(std::move(times));
  return true;
}

Result<Region> CardDevice::zeroes(size_t size_bytes, const char* what) {
  ASSIGN_OR_RETURN(Region region, pool_->allocate(size_bytes, what));
  steps_->begin();
  steps_->fill(place_in(region), region.size_bytes(), 0, Work::copies);
  RETURN_IF_ERROR(steps_->status());
  return region;
}

Result<std::unique_ptr<Buffer>> CardDevice::allocate(size_t size_bytes) {
  ASSIGN_OR_RETURN(Region region, zeroes(size_bytes, "a buffer"));
  return std::make_unique<VulkanBuffer>(std::move(region), size_bytes);
}

Result<std::unique_ptr<KvCache>> CardDevice::create_kv_cache(const KvCacheShape& shape) {
  RETURN_IF_ERROR(shape.check());
  const size_t size = shape.num_layers * shape.num_pages * VulkanKvCache::page_bytes(shape);
  ASSIGN_OR_RETURN(Region region, zeroes(size, "keys and values"));
  return std::make_unique<VulkanKvCache>(shape, std::move(region));
}

Result<std::unique_ptr<StateCache>> CardDevice::create_state_cache(const StateCacheShape& shape) {
  const size_t slot_floats = shape.num_layers * VulkanStateCache::layer_floats(shape);
  ASSIGN_OR_RETURN(Region region, zeroes(4 * shape.num_slots * slot_floats, "recurrent states"));
  return std::make_unique<VulkanStateCache>(shape, std::move(region));
}

Result<std::unique_ptr<Routing>> CardDevice::create_routing(const RoutingShape& shape) {
  EVENER_ASSERT(shape.num_chosen > 0);
  EVENER_ASSERT(shape.num_chosen <= shape.num_experts);
  ASSIGN_OR_RETURN(Region region, zeroes(VulkanRouting::size_bytes(shape), "experts"));
  return std::make_unique<VulkanRouting>(shape, std::move(region));
}

// False after a failure.
bool CardDevice::reserve(Scratch& scratch, size_t size_bytes) {
  if (scratch.region.size_bytes() >= size_bytes) return bool(steps_->status());
  scratch.region = {};
  auto region = pool_->allocate(size_bytes, scratch.what);
  if (!region) {
    steps_->fail(region.error());
    return false;
  }
  scratch.region = std::move(*region);
  return bool(steps_->status());
}

void CardDevice::write_bytes(std::span<const std::byte> bytes, const Place& to, Work work) {
  steps_->begin();
  const SharedPiece piece = steps_->bring(bytes.size());
  if (piece.host == nullptr) return;
  std::memcpy(piece.host, bytes.data(), bytes.size());
  steps_->copy({.buffer = piece.buffer, .offset = piece.offset, .address = piece.address}, to,
               bytes.size(), work);
}

// Zeros after a failure.
void CardDevice::read_bytes(const Place& from, std::span<std::byte> bytes) {
  steps_->begin();
  const std::byte* const home = steps_->take_home(from, bytes.size());
  if (steps_->finish() && home != nullptr) {
    std::memcpy(bytes.data(), home, bytes.size());
  } else {
    std::ranges::fill(bytes, std::byte{0});
  }
}

}  // namespace evener::device::vulkan
