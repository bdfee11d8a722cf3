#include "device/vulkan/hazards.h"

#include <algorithm>

namespace evener::device::vulkan {

bool Hazards::meet(std::span<const Touched> a, std::span<const Touched> b) {
  for (const Touched& x : a) {
    for (const Touched& y : b) {
      if (std::max(x.begin, y.begin) < std::min(x.end, y.end)) return true;
    }
  }
  return false;
}

bool Hazards::needs_barrier(std::span<const Touched> reads, std::span<const Touched> writes) {
  const bool needs = meet(reads, writes_) || meet(writes, writes_) || meet(writes, reads_);
  if (needs) clear();
  reads_.insert(reads_.end(), reads.begin(), reads.end());
  writes_.insert(writes_.end(), writes.begin(), writes.end());
  return needs;
}

void Hazards::clear() {
  reads_.clear();
  writes_.clear();
}

}  // namespace evener::device::vulkan
