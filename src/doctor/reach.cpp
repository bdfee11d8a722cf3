#include "doctor/reach.h"

namespace evener::doctor {
namespace {

constexpr unsigned kAddressBits = 64;

}  // namespace

Reach reach(const Direction& direction) {
  const Card& target = *direction.target;
  const Card& source = *direction.source;
  if (!target.bar_base || !target.bar_bytes || *target.bar_bytes == 0) return Reach::unknown;
  if (!source.dma_mask_bits) return Reach::unknown;
  if (*source.dma_mask_bits >= kAddressBits) return Reach::within;
  const uint64_t limit = uint64_t{1} << *source.dma_mask_bits;
  const bool is_within = *target.bar_base < limit && *target.bar_bytes <= limit - *target.bar_base;
  if (is_within) return Reach::within;
  if (!source.iommu) return Reach::mode_unknown;
  return *source.iommu == host::IommuMode::translated ? Reach::translated : Reach::above;
}

}  // namespace evener::doctor
