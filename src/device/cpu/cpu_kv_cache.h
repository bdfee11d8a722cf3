#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/assert.h"
#include "device/caches.h"
#include "device/cpu/kernels/ops_kernels.h"
#include "device/cpu/memory.h"

namespace evener::device::cpu {

// Pages of tiles, [layers][pages][kv_heads][tiles of a page], each tile as kernels/kv_tiles.inl
// says: kTile keys and kTile values of one head.
class CpuKvCache final : public KvCache {
 public:
  CpuKvCache(const KvCacheShape& cache_shape, Memory memory)
      : KvCache(cache_shape), memory_(std::move(memory)) {}

  // What `shape` takes; head_dim is padded.
  static size_t size_bytes(const KvCacheShape& shape) {
    return shape.num_layers * shape.num_pages * page_bytes(shape);
  }

  static size_t padded(const KvCacheShape& shape) {
    return (shape.head_dim + kTile - 1) / kTile * kTile;
  }

  size_t stored_page_bytes() const override { return shape().num_layers * page_bytes(shape()); }

  size_t page_tiles() const { return shape().page_size / kTile; }

  // The tiles of one head in a page; those in page p lie p * page_bytes(shape()) behind those in
  // page 0.
  std::byte* tiles(size_t layer, size_t page, size_t kv_head) const {
    EVENER_ASSERT(layer < shape().num_layers);
    EVENER_ASSERT(page < shape().num_pages);
    return memory_.data() + (layer * shape().num_pages + page) * page_bytes(shape()) +
           kv_head * page_tiles() * tile_bytes(shape());
  }

  static size_t tile_bytes(const KvCacheShape& shape) {
    return 2 * padded(shape) / info(shape.type).block_size * info(shape.type).block_bytes * kTile;
  }

  // Of a page in one layer.
  static size_t page_bytes(const KvCacheShape& shape) {
    return shape.num_kv_heads * (shape.page_size / kTile) * tile_bytes(shape);
  }

 private:
  Memory memory_;
};

}  // namespace evener::device::cpu
