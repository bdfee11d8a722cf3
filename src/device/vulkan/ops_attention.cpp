// Attention over paged keys and values.
#include <algorithm>
#include <numeric>

#include "device/batch_checks.h"
#include "device/vulkan/card_device.h"

namespace evener::device::vulkan {
namespace {

// As kernels/attention.comp has them.
constexpr size_t kSpan = 512;
constexpr uint32_t kAttentionThreads = 128;
constexpr size_t kTile = 32;

constexpr size_t kQueriesMax = 16;        // of a workgroup
constexpr size_t kQueryFloatsMax = 4096;  // that it holds
constexpr size_t kAttentionHeadDimMax = 1024;
constexpr size_t kSpanBytesMax = size_t{64} << 20;  // for parts of rows that wait to be merged

struct StoreArgs {
  uint64_t k, v, cache, places, pages;
  uint32_t k_stride, v_stride, rows, kv_heads, head_dim, page_size;
};

struct AttentionArgs {
  uint64_t q, y, partial, cache, units, pages;
  uint32_t q_stride, y_stride, num_heads, kv_heads, first_partial_row, num_spans, first_unit;
  float scale;
};

struct MergeArgs {
  uint64_t partial, y, places;
  uint32_t y_stride, num_heads, head_dim, first_row, rows, num_spans;
};

// Heads that share keys, and rows, of one workgroup: by the shape alone.
struct Queries {
  size_t heads;
  size_t rows;
};
Queries queries_of(size_t sharing, size_t head_dim) {
  const size_t all = std::clamp<size_t>(kQueryFloatsMax / head_dim, 1, kQueriesMax);
  const size_t heads = std::min(sharing, all);
  return {.heads = heads, .rows = all / heads};
}

// Of the units [first, last): each reads all keys and values before its end once for the heads that
// a workgroup takes.
Cost cost_of(std::span<const AttentionUnit> units, const KvCacheShape& shape, size_t num_heads,
             size_t reads_of_head) {
  Cost cost;
  for (const AttentionUnit& unit : units) {
    const uint64_t end = unit.position + unit.num_rows;
    cost.bytes += 2 * end * shape.num_kv_heads * reads_of_head * VulkanKvCache::row_bytes(shape) +
                  2 * unit.num_rows * num_heads * shape.head_dim * sizeof(float);
    cost.operations += 4 * unit.num_rows * end * num_heads * shape.head_dim;
  }
  return cost;
}

}  // namespace

void CardDevice::store_kv(KvCache& cache, size_t layer, const Batch& batch, const Tensor& k,
                          const Tensor& v) {
  const auto& pages = static_cast<VulkanKvCache&>(cache);
  const KvCacheShape& shape = cache.shape();
  check_pages(batch, shape);
  EVENER_ASSERT(k.rows == batch.num_rows);
  EVENER_ASSERT(v.rows == batch.num_rows);
  EVENER_ASSERT(k.cols == shape.num_kv_heads * shape.head_dim);
  EVENER_ASSERT(v.cols == k.cols);
  if (k.rows == 0 || k.cols == 0) return;
  steps_->begin();
  const BatchData::Addresses& at = batch_data_.get(*steps_, batch, 0);
  const StoreArgs args{.k = address_of(k),
                       .v = address_of(v),
                       .cache = pages.layer(layer).begin,
                       .places = at.rows,
                       .pages = at.pages,
                       .k_stride = uint32_t(k.stride),
                       .v_stride = uint32_t(v.stride),
                       .rows = uint32_t(k.rows),
                       .kv_heads = uint32_t(shape.num_kv_heads),
                       .head_dim = uint32_t(shape.head_dim),
                       .page_size = uint32_t(shape.page_size)};
  constexpr uint32_t kStoreThreads = 64;
  const size_t units = 2 * shape.num_kv_heads * groups_of(shape.head_dim, 64);
  const RowGroups groups = spread_rows(k.rows);
  call({.kernel = "store_kv",
        .constants = {kStoreThreads, uint32_t(shape.type)},
        .num_constants = 2},
       {groups_of(units, kStoreThreads), groups.y, groups.z}, args, {touched(k), touched(v)},
       {pages.layer(layer)}, Work::attention,
       {.bytes = 2 * k.rows *
                 (k.cols * sizeof(float) + shape.num_kv_heads * VulkanKvCache::row_bytes(shape)),
        .operations = 0});
}

void CardDevice::attention(const KvCache& cache, size_t layer, const Batch& batch, const Tensor& q,
                           float scale, const Tensor& y) {
  const auto& pages = static_cast<const VulkanKvCache&>(cache);
  const KvCacheShape& shape = cache.shape();
  check_pages(batch, shape);
  EVENER_ASSERT(q.rows == batch.num_rows);
  EVENER_ASSERT(y.rows == q.rows);
  EVENER_ASSERT(y.cols == q.cols);
  EVENER_ASSERT(shape.head_dim <= kAttentionHeadDimMax);
  if (q.rows == 0 || q.cols == 0) return;
  EVENER_ASSERT(q.cols % (shape.num_kv_heads * shape.head_dim) == 0);
  steps_->begin();
  const size_t sharing = q.cols / (shape.num_kv_heads * shape.head_dim);
  const Queries queries = queries_of(sharing, shape.head_dim);
  attend(pages, layer, batch_data_.get(*steps_, batch, queries.rows), q, scale, y);
}

// Rows [first_row, first_row + num_rows), whose spans have been computed.
void CardDevice::merge_spans(const SpanRows& spans, const Tensor& y) {
  const Touched parts = touched(spans_.region);
  const size_t num_heads = y.cols / spans.head_dim;
  const MergeArgs args{.partial = parts.begin,
                       .y = address_of(y),
                       .places = spans.rows,
                       .y_stride = uint32_t(y.stride),
                       .num_heads = uint32_t(num_heads),
                       .head_dim = uint32_t(spans.head_dim),
                       .first_row = uint32_t(spans.first_row),
                       .rows = uint32_t(spans.num_rows),
                       .num_spans = uint32_t(spans.num_spans)};
  constexpr uint32_t kMergeThreads = 64;
  const RowGroups groups = spread_rows(spans.num_rows);
  call({.kernel = "attention_merge", .constants = {kMergeThreads}, .num_constants = 1},
       {uint32_t(num_heads), groups.y, groups.z}, args, {parts}, {touched(y)}, Work::attention,
       {.bytes = spans.num_rows * num_heads * (spans.head_dim + 2) * (spans.num_spans + 1) *
                 sizeof(float),
        .operations = 0});
}

// Units in turns, as many as have room for their parts.
void CardDevice::attend(const VulkanKvCache& cache, size_t layer, const BatchData::Addresses& batch,
                        const Tensor& q, float scale, const Tensor& y) {
  const KvCacheShape& shape = cache.shape();
  const size_t num_heads = q.cols / shape.head_dim;
  const size_t sharing = num_heads / shape.num_kv_heads;
  const Queries queries = queries_of(sharing, shape.head_dim);
  const size_t num_queries = queries.heads * queries.rows;
  const PipelineKey kernel{
      .kernel = "attention",
      .constants = {kAttentionThreads, uint32_t(shape.type), uint32_t(shape.head_dim),
                    uint32_t(queries.heads), uint32_t(queries.rows), uint32_t(shape.page_size),
                    uint32_t(num_queries), groups_of(shape.head_dim, kAttentionThreads),
                    groups_of(num_queries, kAttentionThreads / kTile)},
      .num_constants = 9};
  const std::vector<AttentionUnit>& units = batch.host_units;
  for (size_t first = 0; first < units.size();) {
    const size_t first_row = units[first].first_row;
    size_t end = first;
    size_t num_spans = 0;
    size_t part_bytes = 0;
    for (; end < units.size(); ++end) {
      const size_t spans =
          std::max(num_spans, size_t(groups_of(units[end].position + units[end].num_rows, kSpan)));
      const size_t rows = units[end].first_row + units[end].num_rows - first_row;
      const size_t bytes =
          spans == 1 ? 0 : rows * num_heads * spans * (shape.head_dim + 2) * sizeof(float);
      if (end > first && bytes > kSpanBytesMax) break;
      num_spans = spans;
      part_bytes = bytes;
    }
    if (part_bytes > 0 && !reserve(spans_, part_bytes)) return;
    const Touched parts = part_bytes == 0 ? Touched{} : touched(spans_.region);
    const AttentionArgs args{.q = address_of(q),
                             .y = address_of(y),
                             .partial = parts.begin,
                             .cache = cache.layer(layer).begin,
                             .units = batch.units,
                             .pages = batch.pages,
                             .q_stride = uint32_t(q.stride),
                             .y_stride = uint32_t(y.stride),
                             .num_heads = uint32_t(num_heads),
                             .kv_heads = uint32_t(shape.num_kv_heads),
                             .first_partial_row = uint32_t(first_row),
                             .num_spans = uint32_t(num_spans),
                             .first_unit = uint32_t(first),
                             .scale = scale};
    call(kernel,
         {uint32_t(shape.num_kv_heads * groups_of(sharing, queries.heads)), uint32_t(end - first),
          uint32_t(num_spans)},
         args, {touched(q), cache.layer(layer)}, {touched(y), parts}, Work::attention,
         cost_of(std::span(units).subspan(first, end - first), shape, num_heads,
                 groups_of(sharing, queries.heads)));
    if (part_bytes > 0) {
      const size_t rows = units[end - 1].first_row + units[end - 1].num_rows - first_row;
      merge_spans({.rows = batch.rows,
                   .first_row = first_row,
                   .num_rows = rows,
                   .num_spans = num_spans,
                   .head_dim = shape.head_dim},
                  y);
    }
    first = end;
  }
}

}  // namespace evener::device::vulkan
