#include "device/vulkan/card_memory.h"

#include <algorithm>

namespace evener::device::vulkan {

size_t usable_bytes(const Adapter& adapter, const MemoryNow& now) {
  if (adapter.is_software()) return std::min(now.free_bytes, now.host_free_bytes);
  size_t free = now.free_bytes;
  // A driver need not know what others have taken; the kernel does. Of a processor's own graphics
  // it counts only what the firmware has set apart.
  const bool is_known = now.facts.vram_total_bytes && now.facts.vram_used_bytes;
  if (adapter.kind == AdapterKind::discrete && is_known) {
    const size_t total = *now.facts.vram_total_bytes;
    free = std::min(free, total - std::min(total, *now.facts.vram_used_bytes));
  }
  const size_t reserve = now.facts.drives_display ? kDisplayReserveBytes : kReserveBytes;
  return free - std::min(free, reserve);
}

}  // namespace evener::device::vulkan
