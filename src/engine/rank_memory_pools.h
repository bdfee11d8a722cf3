#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/device_memory.h"
#include "engine/capacity.h"

namespace evener::engine {

// What of free memory a model may take. The machine is not only ours, and its free memory is an
// estimate.
struct MemoryBounds {
  size_t bytes_max = 0;       // what the user allows; 0: nine tenths of what is free
  size_t taken_bytes = 0;     // of what is allowed, in use already
  size_t reserved_bytes = 0;  // for something else
};
size_t usable_memory(size_t free_bytes, const MemoryBounds& bounds);

// Of a card's own memory that is all that is free, which leaves out a reserve already; what is
// reserved in `bounds` lies on the host.
size_t usable_memory(const device::DeviceMemory& memory, const MemoryBounds& bounds);

// One memory, and the ranks whose devices have it.
struct MemoryPool {
  std::string name;  // for messages: "cpu:0[0], cpu:0[1]", "vulkan:0"
  size_t available_bytes = 0;
  std::vector<size_t> ranks;
};

// What one rank takes: the numbers of CapacityRequest that differ from rank to rank.
struct RankNeed {
  size_t weight_bytes = 0;
  size_t scratch_bytes = 0;
  size_t bytes_per_page = 0;
  size_t bytes_per_slot = 0;
};

// The memories of the devices [ranks], as free as they are now: one for each NUMA node or card; one
// for all that lie on the host together, since a process has a limit of its own; and one for all
// devices where the user sets a limit to them. Errors: as device_memory.
Result<std::vector<MemoryPool>> memory_pools(const std::vector<std::string>& devices,
                                             const MemoryBounds& bounds);

// What can be held in both.
Capacity least_of(const Capacity& a, const Capacity& b);

// plan_capacity() for several ranks, all of which hold every sequence: what each memory has room
// for, and of that the least. `common` says what is the same everywhere; its needs and available
// bytes are not looked at. Error: out_of_memory, naming the devices and by how much they fall
// short.
Result<Capacity> plan_capacity(const CapacityRequest& common, std::span<const RankNeed> ranks,
                               std::span<const MemoryPool> pools);

}  // namespace evener::engine
