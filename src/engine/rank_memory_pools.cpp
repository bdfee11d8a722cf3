#include "engine/rank_memory_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "device/cpu/cpu_node.h"
#include "device/cpu/memory_limit.h"
#include "device/cpu/node_memory.h"
#include "device/device_name.h"

namespace evener::engine {
namespace {

size_t less(size_t a, size_t b) { return a - std::min(a, b); }

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

Result<std::vector<MemoryPool>> memory_pools(const std::vector<std::string>& devices,
                                             const MemoryBounds& bounds) {
  std::map<size_t, MemoryPool> of_node;
  MemoryPool all{.name = "all devices",
                 .available_bytes = usable_memory(device::cpu::available_memory_bytes(), bounds),
                 .ranks = {}};
  for (size_t rank = 0; rank < devices.size(); ++rank) {
    ASSIGN_OR_RETURN(const device::DeviceName name, device::parse_device_name(devices[rank]));
    ASSIGN_OR_RETURN(const auto node, device::cpu::read_cpu_node(name.numa_node));
    MemoryPool& pool = of_node[node.index];
    pool.name += (pool.name.empty() ? "" : ", ") + devices[rank];
    pool.available_bytes = usable_memory(device::cpu::free_node_memory(node), bounds);
    pool.ranks.push_back(rank);
    all.ranks.push_back(rank);
  }
  std::vector<MemoryPool> pools;
  for (auto& [node, pool] : of_node) pools.push_back(std::move(pool));
  if (pools.size() > 1) pools.push_back(std::move(all));
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
