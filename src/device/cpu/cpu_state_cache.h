#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/assert.h"
#include "device/caches.h"
#include "device/cpu/kernels/ops_kernels.h"
#include "device/cpu/memory.h"

namespace evener::device::cpu {

// [slots][layers] of: the last rows of the convolution's input [taps - 1, channels], then the
// states [value heads][S values][S keys, padded]: transposed, so that all that meets one output
// value is contiguous.
class CpuStateCache final : public StateCache {
 public:
  CpuStateCache(const StateCacheShape& cache_shape, Memory memory)
      : StateCache(cache_shape), memory_(std::move(memory)) {}

  static size_t padded(const StateCacheShape& shape) { return round_up(shape.head_dim); }

  static size_t slot_floats(const StateCacheShape& shape) {
    return shape.num_layers * layer_floats(shape);
  }

  size_t stored_slot_bytes() const override { return slot_floats(shape()) * sizeof(float); }

  float* slot(size_t slot) const {
    EVENER_ASSERT(slot < shape().num_slots);
    return memory_.floats() + slot * slot_floats(shape());
  }

  float* conv_rows(size_t slot_index, size_t layer) const {
    EVENER_ASSERT(layer < shape().num_layers);
    return slot(slot_index) + layer * layer_floats(shape());
  }

  float* state(size_t slot_index, size_t layer, size_t value_head) const {
    return conv_rows(slot_index, layer) + conv_floats(shape()) +
           value_head * shape().head_dim * padded(shape());
  }

 private:
  static size_t round_up(size_t n) { return (n + kTile - 1) / kTile * kTile; }
  static size_t conv_floats(const StateCacheShape& shape) {
    return round_up((shape.conv_taps - 1) * shape.conv_channels);
  }
  static size_t layer_floats(const StateCacheShape& shape) {
    return conv_floats(shape) + shape.num_value_heads * shape.head_dim * padded(shape);
  }

  Memory memory_;
};

}  // namespace evener::device::cpu
