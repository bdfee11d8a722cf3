#include "engine/rank_memory_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "device/cpu/memory_limit.h"

namespace evener::engine {
namespace {

size_t less(size_t a, size_t b) { return a - std::min(a, b); }

void add_rank(MemoryPool& pool, size_t rank, const std::string& device) {
  pool.name += (pool.name.empty() ? "" : ", ") + device;
  pool.ranks.push_back(rank);
}

// The pools of the devices by the place of their memory.
class Places {
 public:
  MemoryPool& pool_of(const std::string& place) {
    const auto at = std::ranges::find(places_, place);
    if (at != places_.end()) return pools_[size_t(at - places_.begin())];
    places_.push_back(place);
    return pools_.emplace_back();
  }
  std::vector<MemoryPool> take() { return std::move(pools_); }

 private:
  std::vector<std::string> places_;
  std::vector<MemoryPool> pools_;
};

}  // namespace

Capacity least_of(const Capacity& a, const Capacity& b) {
  Capacity both;
  both.num_pages = std::min(a.num_pages, b.num_pages);
  // Ranks without recurrent layers have no slots and set no limit to them.
  both.num_slots = a.num_slots == 0 || b.num_slots == 0 ? std::max(a.num_slots, b.num_slots)
                                                        : std::min(a.num_slots, b.num_slots);
  both.max_sequences = std::min(a.max_sequences, b.max_sequences);
  const bool a_is_shorter = a.admissible_tokens <= b.admissible_tokens;
  both.admissible_tokens = a_is_shorter ? a.admissible_tokens : b.admissible_tokens;
  both.limit = a_is_shorter ? a.limit : b.limit;
  return both;
}

size_t usable_memory(size_t free_bytes, const MemoryBounds& bounds) {
  const size_t usable = bounds.bytes_max == 0
                            ? free_bytes / 10 * 9
                            : std::min(less(bounds.bytes_max, bounds.taken_bytes), free_bytes);
  return less(usable, bounds.reserved_bytes);
}

size_t usable_memory(const device::DeviceMemory& memory, const MemoryBounds& bounds) {
  if (memory.is_of_host) return usable_memory(memory.free_bytes, bounds);
  if (bounds.bytes_max == 0) return memory.free_bytes;
  return std::min(less(bounds.bytes_max, bounds.taken_bytes), memory.free_bytes);
}

Result<std::vector<MemoryPool>> memory_pools(const std::vector<std::string>& devices,
                                             const MemoryBounds& bounds) {
  Places places;
  MemoryPool on_host;
  MemoryPool all;
  for (size_t rank = 0; rank < devices.size(); ++rank) {
    ASSIGN_OR_RETURN(const device::DeviceMemory memory, device::device_memory(devices[rank]));
    MemoryPool& pool = places.pool_of(memory.place);
    pool.available_bytes = usable_memory(memory, bounds);
    add_rank(pool, rank, devices[rank]);
    add_rank(all, rank, devices[rank]);
    if (memory.is_of_host) add_rank(on_host, rank, devices[rank]);
  }
  std::vector<MemoryPool> pools = places.take();
  if (pools.size() == 1) return pools;
  const bool has_cards = on_host.ranks.size() < all.ranks.size();
  all.name = "all devices";
  if (!has_cards) on_host.name = all.name;
  if (on_host.ranks.size() > 1) {
    on_host.available_bytes = usable_memory(device::cpu::available_memory_bytes(), bounds);
    pools.push_back(std::move(on_host));
  }
  if (has_cards && bounds.bytes_max > 0) {
    all.available_bytes = less(less(bounds.bytes_max, bounds.taken_bytes), bounds.reserved_bytes);
    pools.push_back(std::move(all));
  }
  return pools;
}

Result<Capacity> plan_capacity(const CapacityRequest& common, std::span<const RankNeed> ranks,
                               std::span<const MemoryPool> pools) {
  std::optional<Capacity> capacity;
  for (const MemoryPool& pool : pools) {
    CapacityRequest request = common;
    request.weight_bytes = request.scratch_bytes = 0;
    request.bytes_per_page = request.bytes_per_slot = 0;
    for (const size_t rank : pool.ranks) {
      request.weight_bytes = saturated_sum(request.weight_bytes, ranks[rank].weight_bytes);
      request.scratch_bytes = saturated_sum(request.scratch_bytes, ranks[rank].scratch_bytes);
      request.bytes_per_page = saturated_sum(request.bytes_per_page, ranks[rank].bytes_per_page);
      request.bytes_per_slot = saturated_sum(request.bytes_per_slot, ranks[rank].bytes_per_slot);
    }
    if (ranks.size() > 1) request.where = fmt::format("{}, on {}", common.where, pool.name);
    request.available_bytes = pool.available_bytes;
    ASSIGN_OR_RETURN(const Capacity here, plan_capacity(request));
    capacity = capacity ? least_of(*capacity, here) : here;
  }
  return *capacity;
}

}  // namespace evener::engine
