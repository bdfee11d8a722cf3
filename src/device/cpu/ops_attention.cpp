// Attention over paged KV.
#include <algorithm>
#include <limits>

#include "device/cpu/batch_rows.h"
#include "device/cpu/cpu_buffer.h"
#include "device/cpu/cpu_kv_cache.h"
#include "device/cpu/kernel_device.h"

namespace evener::device::cpu {
namespace {

// Query rows that share one pass over the keys: enough to hide the conversion of a tile, few enough
// for their sums to stay in the second-level cache.
constexpr size_t kRowsMax = 64;

// The softmax is summed from scratch over each span of positions, and the spans are merged in
// order: they can be computed by different threads without a change of one bit.
constexpr size_t kSpan = 512;
static_assert(kSpan % kSoftmaxBlock == 0);

constexpr size_t kStoreCost = 8;  // of a key and value channel

size_t state_floats(size_t padded) { return kRowsMax * (padded + 2); }

AttentionState state_at(float* place, size_t padded) {
  return {.max = place + kRowsMax * padded, .sum = place + kRowsMax * (padded + 1), .acc = place};
}

// Room of one thread for one unit.
struct Room {
  float* q;
  AttentionState span;
  AttentionState merged;
  float* kernel;
};

size_t kernel_floats(size_t padded) {
  const size_t counts = kRowsMax * sizeof(size_t) / sizeof(float);
  return kRowsMax * kSoftmaxBlock + 2 * kSoftmaxBlock * padded + counts;
}

size_t room_floats(size_t padded) {
  return kRowsMax * padded + 2 * state_floats(padded) + kernel_floats(padded);
}

Room room_at(float* place, size_t padded) {
  float* const states = place + kRowsMax * padded;
  return {.q = place,
          .span = state_at(states, padded),
          .merged = state_at(states + state_floats(padded), padded),
          .kernel = states + 2 * state_floats(padded)};
}

// Neighbouring tokens of a slice and some query heads of one KV head: kRowsMax rows at most.
struct Unit {
  const Slice* slice;
  size_t first_token;
  size_t tokens;
  size_t kv_head;
  size_t first_head;
  size_t num_heads;

  size_t first_position() const { return slice->first_position + first_token; }
  size_t position_end() const { return first_position() + tokens; }
  size_t rows() const { return tokens * num_heads; }
};

void load_queries(const Unit& unit, const float* q, size_t stride, float scale, size_t head_dim,
                  size_t padded, float* to) {
  for (size_t t = 0; t < unit.tokens; ++t) {
    const float* from =
        q + (unit.slice->first_row + unit.first_token + t) * stride + unit.first_head * head_dim;
    for (size_t h = 0; h < unit.num_heads; ++h, from += head_dim, to += padded) {
      for (size_t d = 0; d < head_dim; ++d) to[d] = from[d] * scale;
      std::fill(to + head_dim, to + padded, 0.0f);
    }
  }
}

void clear(const AttentionState& state, size_t rows, size_t padded) {
  std::fill_n(state.max, rows, -std::numeric_limits<float>::infinity());
  std::fill_n(state.sum, rows, 0.0f);
  std::fill_n(state.acc, rows * padded, 0.0f);
}

}  // namespace

size_t attention_scratch_floats(const KvCacheShape& shape) {
  return room_floats(CpuKvCache::padded(shape));
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

  const auto store = shape.dtype == DType::F16 ? kernels_.store_f16 : kernels_.store_f32;
  const size_t tile_bytes =
      CpuKvCache::tile_elements(shape) * evener::info(shape.dtype).block_bytes;
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
  const auto& pages = static_cast<const CpuKvCache&>(cache);
  const KvCacheShape& shape = cache.shape();
  const size_t head_dim = shape.head_dim;
  const size_t padded = CpuKvCache::padded(shape);
  check_slices(batch);
  check_pages(batch, shape);
  EVENER_ASSERT(q.rows == batch.num_rows);
  EVENER_ASSERT(y.rows == q.rows);
  EVENER_ASSERT(y.cols == q.cols);
  EVENER_ASSERT(q.cols % (head_dim * shape.num_kv_heads) == 0);
  const size_t group = q.cols / head_dim / shape.num_kv_heads;

  const auto attend = shape.dtype == DType::F16 ? kernels_.attend_f16 : kernels_.attend_f32;
  const float* const queries = data_of(q);
  float* const out = data_of(y);
  const auto run_unit = [&](const Unit& unit, size_t thread) {
    const Room room = room_at(scratch(thread, room_floats(padded)), padded);
    load_queries(unit, queries, q.stride, scale, head_dim, padded, room.q);
    clear(room.merged, unit.rows(), padded);
    AttentionArgs args{.q = room.q,
                       .tokens = unit.tokens,
                       .group = unit.num_heads,
                       .first_position = unit.first_position(),
                       .begin = 0,
                       .end = 0,
                       .padded = padded,
                       .tiles = pages.tiles(layer, 0, unit.kv_head),
                       .page_elements = CpuKvCache::page_elements(shape),
                       .pages = unit.slice->pages.data(),
                       .page_tiles = pages.page_tiles(),
                       .scratch = room.kernel,
                       .out = room.span};
    for (; args.begin < unit.position_end(); args.begin += kSpan) {
      args.end = std::min(args.begin + kSpan, unit.position_end());
      attend(args);
      kernels_.merge(room.merged, room.span, unit.rows(), padded);
    }
    for (size_t r = 0; r < unit.rows(); ++r) {
      const size_t row = unit.slice->first_row + unit.first_token + r / unit.num_heads;
      const size_t head = unit.first_head + r % unit.num_heads;
      kernels_.finish(room.merged.acc + r * padded, room.merged.sum[r],
                      out + row * y.stride + head * head_dim, head_dim);
    }
  };

  const size_t heads_at_once = std::min(group, kRowsMax);
  const size_t tokens_at_once = kRowsMax / heads_at_once;
  const size_t head_parts = (group + heads_at_once - 1) / heads_at_once;
  for (const Slice& slice : batch.slices) {
    const size_t token_parts = (slice.num_rows + tokens_at_once - 1) / tokens_at_once;
    const size_t per_token_part = shape.num_kv_heads * head_parts;
    const size_t cost = 4 * padded * (slice.first_position + slice.num_rows) *
                        std::min(kRowsMax, slice.num_rows * group);
    split(token_parts * per_token_part, cost, [&](size_t begin, size_t end, size_t thread) {
      for (size_t i = begin; i < end; ++i) {
        const size_t first_token = i / per_token_part * tokens_at_once;
        const size_t kv_head = i % per_token_part / head_parts;
        const size_t part = i % head_parts * heads_at_once;
        run_unit({.slice = &slice,
                  .first_token = first_token,
                  .tokens = std::min(tokens_at_once, slice.num_rows - first_token),
                  .kv_head = kv_head,
                  .first_head = kv_head * group + part,
                  .num_heads = std::min(heads_at_once, group - part)},
                 thread);
      }
    });
  }
}

}  // namespace evener::device::cpu
