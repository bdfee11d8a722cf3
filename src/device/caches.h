#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "device/kv_type.h"

namespace evener::device {

struct KvCacheShape {
  size_t num_layers = 0;  // attention layers only, counted from 0
  size_t num_pages = 0;
  size_t page_size = 0;  // positions in a page; a multiple of 16
  size_t num_kv_heads = 0;
  size_t head_dim = 0;
  KvType type = KvType::f16;

  size_t bytes_per_page() const {
    return 2 * num_layers * page_size * num_kv_heads * head_dim / info(type).block_size *
           info(type).block_bytes;
  }

  // Whether heads of this width can be kept so. Error: unsupported.
  Status check() const;
};

// Keys and values of all attention layers of one rank, in pages. The layout inside a page is the
// device's own.
class KvCache {
 public:
  explicit KvCache(const KvCacheShape& shape) : shape_(shape) {}
  virtual ~KvCache() = default;
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;
  const KvCacheShape& shape() const { return shape_; }

  // Of one page in all layers as the device lays it out: at least shape().bytes_per_page().
  virtual size_t stored_page_bytes() const = 0;

 private:
  KvCacheShape shape_;
};

struct StateCacheShape {
  size_t num_layers = 0;  // recurrent layers only, counted from 0
  size_t num_slots = 0;
  size_t conv_taps = 0;      // C: a slot keeps the last C - 1 rows of the convolution's input
  size_t conv_channels = 0;  // (2 G + V) S
  size_t num_value_heads = 0;
  size_t head_dim = 0;  // S: a value head's state is S x S

  size_t bytes_per_slot() const {
    return 4 * num_layers *
           ((conv_taps - 1) * conv_channels + num_value_heads * head_dim * head_dim);
  }
};

// Recurrent states (f32) of all gated-delta-net layers of one rank, one slot a sequence.
class StateCache {
 public:
  explicit StateCache(const StateCacheShape& shape) : shape_(shape) {}
  virtual ~StateCache() = default;
  StateCache(const StateCache&) = delete;
  StateCache& operator=(const StateCache&) = delete;
  const StateCacheShape& shape() const { return shape_; }

  // Of one slot in all layers as the device lays it out: at least shape().bytes_per_slot().
  virtual size_t stored_slot_bytes() const = 0;

 private:
  StateCacheShape shape_;
};

}  // namespace evener::device
