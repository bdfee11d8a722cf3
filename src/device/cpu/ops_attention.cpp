// Attention over paged KV: storing, and which thread computes what.
#include <algorithm>

#include "device/batch_checks.h"
#include "device/cpu/attention_call.h"
#include "device/cpu/batch_rows.h"
#include "device/cpu/cpu_buffer.h"
#include "device/cpu/cpu_kv_cache.h"
#include "device/cpu/kernel_device.h"

namespace evener::device::cpu {
namespace {

constexpr size_t kStoreCost = 8;  // of a key and value channel

}  // namespace

size_t attention_scratch_floats(const KvCacheShape& shape) {
  return AttentionCall::room_floats(CpuKvCache::padded(shape));
}

size_t span_states_floats(const KvCacheShape& shape, size_t num_threads) {
  return (kSpanStates + kSpanUnits) * num_threads *
         AttentionCall::state_floats(kSpanRowsMax, CpuKvCache::padded(shape));
}

void KernelDevice::store_kv(KvCache& cache, size_t layer, const Batch& batch, const Tensor& k,
                            const Tensor& v) {
  const auto& pages = static_cast<CpuKvCache&>(cache);
  const KvCacheShape& shape = cache.shape();
  const size_t head_dim = shape.head_dim;
  check_slices(batch);
  check_pages(batch, shape);
  EVENER_ASSERT(k.rows == batch.num_rows);
  EVENER_ASSERT(v.rows == batch.num_rows);
  EVENER_ASSERT(k.cols == shape.num_kv_heads * head_dim);
  EVENER_ASSERT(v.cols == k.cols);

  const auto store = kv_kernels(kernels_, shape.type).store;
  const size_t tile_bytes = CpuKvCache::tile_bytes(shape);
  const float* const keys = data_of(k);
  const float* const values = data_of(v);
  split(k.rows, k.cols * kStoreCost, [&](size_t begin, size_t end, size_t) {
    for (size_t row = begin; row < end; ++row) {
      const Slice& slice = slice_of(batch, row);
      const size_t position = slice.first_position + row - slice.first_row;
      const size_t page = size_t(slice.pages[position / shape.page_size]);
      const size_t tile = position % shape.page_size / kTile;
      for (size_t h = 0; h < shape.num_kv_heads; ++h) {
        store({.tile = pages.tiles(layer, page, h) + tile * tile_bytes,
               .position = position % kTile,
               .k = keys + row * k.stride + h * head_dim,
               .v = values + row * v.stride + h * head_dim,
               .head_dim = head_dim,
               .padded = CpuKvCache::padded(shape)});
      }
    }
  });
}

void KernelDevice::attention(const KvCache& cache, size_t layer, const Batch& batch,
                             const Tensor& q, float scale, const Tensor& y) {
  if (q.rows == 0) return;
  const AttentionCall call(kernels_, static_cast<const CpuKvCache&>(cache), layer, batch, q, scale,
                           y);
  // unit_ends_[i]: units of the slices up to and including i.
  unit_ends_.clear();
  size_t num_units = 0;
  size_t cost = 0;
  for (const Slice& slice : batch.slices) {
    if (slice.num_rows > 0) cost = std::max(cost, call.cost(call.unit(slice, 0)));
    unit_ends_.push_back(num_units += call.num_units(slice));
  }
  if (num_units < kSpanUnits * pool_->num_threads() && attend_by_spans(call, batch)) return;

  split(num_units, cost, [&](size_t begin, size_t end, size_t thread) {
    float* const room = scratch(thread, AttentionCall::room_floats(call.padded()));
    for (size_t i = begin; i < end; ++i) call.attend(attention_unit(call, batch, i), room);
  });
}

AttentionUnit KernelDevice::attention_unit(const AttentionCall& call, const Batch& batch,
                                           size_t index) const {
  const auto slice_end = std::ranges::upper_bound(unit_ends_, index);
  const auto slice = slice_end - unit_ends_.begin();
  const size_t before = slice == 0 ? 0 : *(slice_end - 1);
  return call.unit(batch.slices[size_t(slice)], index - before);
}

// The few units of a decoding step with a long context: threads take spans instead, a window of
// spans at a time. False if the units are not of that kind.
bool KernelDevice::attend_by_spans(const AttentionCall& call, const Batch& batch) {
  const size_t num_units = unit_ends_.back();
  size_t num_spans = 0;
  for (size_t i = 0; i < num_units; ++i) {
    const AttentionUnit unit = attention_unit(call, batch, i);
    if (unit.rows() > kSpanRowsMax) return false;
    num_spans = std::max(num_spans, call.num_spans(unit));
  }
  if (num_spans < 2 || pool_->num_threads() < 2) return false;

  const size_t window = kSpanStates * pool_->num_threads() / num_units;  // spans at a time
  const size_t state_floats = AttentionCall::state_floats(kSpanRowsMax, call.padded());
  const auto state = [&](size_t index, size_t rows) {
    return AttentionCall::state_at(span_states_.floats() + index * state_floats, rows,
                                   call.padded());
  };
  for (size_t first = 0; first < num_spans; first += window) {
    pool_->parallel_for(num_units * window, 1, [&](size_t i, size_t, size_t thread) {
      const AttentionUnit unit = attention_unit(call, batch, i % num_units);
      const size_t span = first + i / num_units;
      if (span >= call.num_spans(unit)) return;
      float* const room = scratch(thread, AttentionCall::room_floats(call.padded()));
      call.attend_span(unit, span, room, state(num_units + i, unit.rows()));
    });
    for (size_t u = 0; u < num_units; ++u) {
      const AttentionUnit unit = attention_unit(call, batch, u);
      const AttentionState merged = state(u, unit.rows());
      if (first == 0) call.clear(merged, unit.rows());
      const size_t end = std::min(first + window, call.num_spans(unit));
      for (size_t span = first; span < end; ++span) {
        call.merge(merged, state(num_units * (span - first + 1) + u, unit.rows()), unit.rows());
      }
      if (first + window >= num_spans) call.finish(unit, merged);
    }
  }
  return true;
}

}  // namespace evener::device::cpu
