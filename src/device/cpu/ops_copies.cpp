// Whole pages and slots: from one slot to another, and to the host and back.
#include <algorithm>
#include <cstring>

#include "device/cpu/cpu_kv_cache.h"
#include "device/cpu/cpu_state_cache.h"
#include "device/cpu/kernel_device.h"

namespace evener::device::cpu {
namespace {

constexpr size_t kCopyBytes = 64 * 1024;  // that one unit of work copies

}  // namespace

// On all threads: one core alone does not reach the memory's speed.
void KernelDevice::copy(const void* from, void* to, size_t size_bytes) {
  const auto* const source = static_cast<const std::byte*>(from);
  auto* const target = static_cast<std::byte*>(to);
  const size_t count = (size_bytes + kCopyBytes - 1) / kCopyBytes;
  split(count, kCopyBytes / sizeof(float), [&](size_t begin, size_t end, size_t) {
    const size_t first = begin * kCopyBytes;
    std::memcpy(target + first, source + first, std::min(end * kCopyBytes, size_bytes) - first);
  });
}

void KernelDevice::copy_state(StateCache& cache, int32_t from, int32_t to) {
  const auto& slots = static_cast<CpuStateCache&>(cache);
  EVENER_ASSERT(from >= 0);
  EVENER_ASSERT(to >= 0);
  EVENER_ASSERT(from != to);
  copy(slots.slot(size_t(from)), slots.slot(size_t(to)), slots.stored_slot_bytes());
}

void KernelDevice::read_page(const KvCache& cache, int32_t page, std::span<std::byte> bytes) {
  const auto& pages = static_cast<const CpuKvCache&>(cache);
  const size_t layer_bytes = CpuKvCache::page_bytes(cache.shape());
  EVENER_ASSERT(page >= 0);
  EVENER_ASSERT(bytes.size() == pages.stored_page_bytes());
  for (size_t layer = 0; layer < cache.shape().num_layers; ++layer) {
    copy(pages.tiles(layer, size_t(page), 0), bytes.data() + layer * layer_bytes, layer_bytes);
  }
}

void KernelDevice::write_page(KvCache& cache, int32_t page, std::span<const std::byte> bytes) {
  const auto& pages = static_cast<CpuKvCache&>(cache);
  const size_t layer_bytes = CpuKvCache::page_bytes(cache.shape());
  EVENER_ASSERT(page >= 0);
  EVENER_ASSERT(bytes.size() == pages.stored_page_bytes());
  for (size_t layer = 0; layer < cache.shape().num_layers; ++layer) {
    copy(bytes.data() + layer * layer_bytes, pages.tiles(layer, size_t(page), 0), layer_bytes);
  }
}

void KernelDevice::read_state(const StateCache& cache, int32_t slot, std::span<std::byte> bytes) {
  const auto& slots = static_cast<const CpuStateCache&>(cache);
  EVENER_ASSERT(slot >= 0);
  EVENER_ASSERT(bytes.size() == slots.stored_slot_bytes());
  copy(slots.slot(size_t(slot)), bytes.data(), bytes.size());
}

void KernelDevice::write_state(StateCache& cache, int32_t slot, std::span<const std::byte> bytes) {
  const auto& slots = static_cast<CpuStateCache&>(cache);
  EVENER_ASSERT(slot >= 0);
  EVENER_ASSERT(bytes.size() == slots.stored_slot_bytes());
  copy(bytes.data(), slots.slot(size_t(slot)), bytes.size());
}

}  // namespace evener::device::cpu
