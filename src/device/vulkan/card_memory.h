#pragma once

#include <cstddef>

#include "device/vulkan/adapter.h"
#include "device/vulkan/card_facts.h"

namespace evener::device::vulkan {

// What stays free for others on a card: windows and videos come and go, and who takes all makes
// them, or us, swap over the bus.
inline constexpr size_t kReserveBytes = size_t{256} << 20;
inline constexpr size_t kDisplayReserveBytes = size_t{768} << 20;

struct MemoryNow {
  size_t free_bytes = 0;  // as Vulkan says
  size_t host_free_bytes = 0;
  CardFacts facts = {};
};

// Of an adapter's memory, what this process may take. A software adapter's is the host's, which is
// kept free elsewhere.
size_t usable_bytes(const Adapter& adapter, const MemoryNow& now);

}  // namespace evener::device::vulkan
