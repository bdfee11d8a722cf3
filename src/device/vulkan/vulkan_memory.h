#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "device/caches.h"
#include "device/experts.h"
#include "device/tensor.h"
#include "device/vulkan/hazards.h"
#include "device/vulkan/memory_pool.h"
#include "device/vulkan/steps.h"
#include "device/vulkan/weight_layout.h"
#include "device/weight.h"

namespace evener::device::vulkan {

// Bytes of a region from `offset` on.
inline Place place_in(const Region& region, size_t offset = 0) {
  return {.buffer = region.buffer(),
          .offset = region.offset() + offset,
          .address = region.address() + offset};
}

inline Touched touched(const Place& place, size_t size_bytes) {
  return {place.address, place.address + size_bytes};
}

inline Touched touched(const Region& region) {
  return {region.address(), region.address() + region.size_bytes()};
}

class VulkanBuffer final : public Buffer {
 public:
  VulkanBuffer(Region region, size_t size_bytes)
      : region_(std::move(region)), size_bytes_(size_bytes) {}
  size_t size_bytes() const override { return size_bytes_; }
  const Region& region() const { return region_; }

 private:
  Region region_;
  size_t size_bytes_;
};

// A tensor's first value. Aborts if the tensor does not lie in its buffer.
inline Place place_of(const Tensor& tensor) {
  EVENER_ASSERT(tensor.buffer != nullptr);
  EVENER_ASSERT(tensor.stride >= tensor.cols || tensor.rows <= 1);
  const size_t end =
      tensor.offset + (tensor.rows == 0 ? 0 : (tensor.rows - 1) * tensor.stride + tensor.cols);
  EVENER_ASSERT(end * sizeof(float) <= tensor.buffer->size_bytes());
  return place_in(static_cast<const VulkanBuffer*>(tensor.buffer)->region(),
                  tensor.offset * sizeof(float));
}

inline uint64_t address_of(const Tensor& tensor) { return place_of(tensor).address; }

inline Touched touched(const Tensor& tensor) {
  const uint64_t begin = address_of(tensor);
  const size_t floats = tensor.rows == 0 ? 0 : (tensor.rows - 1) * tensor.stride + tensor.cols;
  return {begin, begin + floats * sizeof(float)};
}

class VulkanWeight final : public Weight {
 public:
  // Names of the kernels that multiply with it.
  struct Kernels {
    std::string_view vector;  // a few rows
    std::string_view matrix;  // many
  };

  // `region`: the bodies of all blocks, then from heads_at on the heads.
  VulkanWeight(const WeightSource& source, const WeightLayout& layout, const Kernels& kernels,
               Region region, size_t heads_at)
      : Weight(source.dtype, source.outputs, source.inputs, source.num_experts),
        layout_(layout),
        kernels_(kernels),
        region_(std::move(region)),
        heads_at_(heads_at) {}
  size_t size_bytes() const override { return region_.size_bytes(); }
  const WeightLayout& layout() const { return layout_; }
  const Kernels& kernels() const { return kernels_; }
  const Region& region() const { return region_; }
  uint64_t body() const { return region_.address(); }
  uint64_t heads() const { return region_.address() + heads_at_; }

 private:
  const WeightLayout& layout_;
  Kernels kernels_;
  Region region_;
  size_t heads_at_;
};

// Rows that the host looks up and decodes: they are few, and the table is large.
class HostRowsWeight final : public Weight {
 public:
  explicit HostRowsWeight(const WeightSource& source)
      : Weight(source.dtype, source.outputs, source.inputs), bytes_(source.bytes) {}
  size_t size_bytes() const override { return 0; }
  std::span<const std::byte> row(size_t index) const {
    const size_t row_bytes = bytes_.size() / outputs();
    return bytes_.subspan(index * row_bytes, row_bytes);
  }

 private:
  std::span<const std::byte> bytes_;
};

// [layers][pages][kv heads] of page_size keys and page_size values, as kernels/kv.glsl says.
class VulkanKvCache final : public KvCache {
 public:
  VulkanKvCache(const KvCacheShape& cache_shape, Region region)
      : KvCache(cache_shape), region_(std::move(region)) {}

  static size_t row_bytes(const KvCacheShape& shape) {
    const size_t dim = shape.head_dim;
    switch (shape.type) {
      case KvType::f32:
        return 4 * dim;
      case KvType::f16:
        return (dim + 1) / 2 * 4;
      case KvType::q8_0:
        return dim + (dim / 32 + 1) / 2 * 4;
      case KvType::fp8:
        break;
    }
    return (dim + 3) / 4 * 4;
  }
  // In one layer.
  static size_t page_bytes(const KvCacheShape& shape) {
    return 2 * shape.num_kv_heads * shape.page_size * row_bytes(shape);
  }
  size_t stored_page_bytes() const override { return shape().num_layers * page_bytes(shape()); }

  size_t offset_of(size_t layer, size_t page) const {
    EVENER_ASSERT(layer < shape().num_layers);
    EVENER_ASSERT(page < shape().num_pages);
    return (layer * shape().num_pages + page) * page_bytes(shape());
  }
  const Region& region() const { return region_; }
  Touched layer(size_t index) const {
    const uint64_t begin = region_.address() + offset_of(index, 0);
    return {begin, begin + shape().num_pages * page_bytes(shape())};
  }

 private:
  Region region_;
};

// [slots][layers] of the last rows of the convolution's input, then the states [value heads][keys]
// [values].
class VulkanStateCache final : public StateCache {
 public:
  VulkanStateCache(const StateCacheShape& cache_shape, Region region)
      : StateCache(cache_shape), region_(std::move(region)) {}

  static size_t history_floats(const StateCacheShape& shape) {
    return (shape.conv_taps - 1) * shape.conv_channels;
  }
  static size_t layer_floats(const StateCacheShape& shape) {
    return history_floats(shape) + shape.num_value_heads * shape.head_dim * shape.head_dim;
  }
  size_t slot_floats() const { return shape().num_layers * layer_floats(shape()); }
  size_t stored_slot_bytes() const override { return slot_floats() * sizeof(float); }
  const Region& region() const { return region_; }

  // Of the layer in slot 0.
  uint64_t history(size_t layer) const {
    EVENER_ASSERT(layer < shape().num_layers);
    return region_.address() + layer * layer_floats(shape()) * sizeof(float);
  }
  uint64_t states(size_t layer) const {
    return history(layer) + history_floats(shape()) * sizeof(float);
  }
  Place slot(int32_t index) const {
    EVENER_ASSERT(index >= 0);
    EVENER_ASSERT(size_t(index) < shape().num_slots);
    return place_in(region_, size_t(index) * stored_slot_bytes());
  }

 private:
  Region region_;
};

}  // namespace evener::device::vulkan
