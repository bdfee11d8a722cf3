#include "device/cpu/attention_call.h"

#include <algorithm>
#include <limits>

#include "device/batch_checks.h"
#include "device/cpu/batch_rows.h"
#include "device/cpu/cpu_buffer.h"

namespace evener::device::cpu {
namespace {

size_t divide_up(size_t n, size_t by) { return (n + by - 1) / by; }

// What the kernels of a unit need: scores twice, a block's tiles as floats, a count a row.
size_t kernel_floats(size_t padded) {
  constexpr size_t kRows = AttentionCall::kRowsMax;
  return 2 * kRows * kSoftmaxBlock + 2 * kSoftmaxBlock * padded +
         kRows * sizeof(size_t) / sizeof(float);
}

}  // namespace

const KvKernels& kv_kernels(const OpsKernels& kernels, KvType type) {
  switch (type) {
    case KvType::f32:
      return kernels.kv_f32;
    case KvType::f16:
      return kernels.kv_f16;
    case KvType::q8_0:
      return kernels.kv_q8_0;
    case KvType::fp8:
      break;
  }
  return kernels.kv_fp8;
}

AttentionCall::AttentionCall(const OpsKernels& kernels, const CpuKvCache& cache, size_t layer,
                             const Batch& batch, const Tensor& q, float scale, const Tensor& y)
    : kernels_(kernels),
      cache_(cache),
      layer_(layer),
      kv_(kv_kernels(kernels, cache.shape().type)),
      scale_(scale * kv_.unit),
      head_dim_(cache.shape().head_dim),
      padded_(CpuKvCache::padded(cache.shape())),
      group_(q.cols / head_dim_ / cache.shape().num_kv_heads),
      q_(data_of(q)),
      q_stride_(q.stride),
      y_(data_of(y)),
      y_stride_(y.stride) {
  check_slices(batch);
  check_pages(batch, cache.shape());
  EVENER_ASSERT(group_ > 0);
  EVENER_ASSERT(q.cols == group_ * cache.shape().num_kv_heads * head_dim_);
  EVENER_ASSERT(q.rows == batch.num_rows);
  EVENER_ASSERT(y.rows == q.rows);
  EVENER_ASSERT(y.cols == q.cols);
}

// A unit has as many heads of the group as fit, and then as many tokens.
size_t AttentionCall::num_units(const Slice& slice) const {
  const size_t heads = std::min(group_, kRowsMax);
  return divide_up(slice.num_rows, kRowsMax / heads) * cache_.shape().num_kv_heads *
         divide_up(group_, heads);
}

AttentionUnit AttentionCall::unit(const Slice& slice, size_t index) const {
  const size_t heads = std::min(group_, kRowsMax);
  const size_t head_parts = divide_up(group_, heads);
  const size_t first_head = index % head_parts * heads;
  const size_t kv_head = index / head_parts % cache_.shape().num_kv_heads;
  const size_t token_part = index / head_parts / cache_.shape().num_kv_heads;
  const size_t tokens = kRowsMax / heads;
  const size_t first_token = token_part * tokens;
  return {.slice = &slice,
          .first_token = first_token,
          .tokens = std::min(tokens, slice.num_rows - first_token),
          .kv_head = kv_head,
          .first_head = kv_head * group_ + first_head,
          .num_heads = std::min(heads, group_ - first_head)};
}

size_t AttentionCall::num_spans(const AttentionUnit& unit) const {
  return divide_up(unit.position_end(), kSpan);
}

size_t AttentionCall::cost(const AttentionUnit& unit) const {
  return 4 * unit.rows() * padded_ * unit.position_end();
}

AttentionState AttentionCall::state_at(float* place, size_t rows, size_t padded) {
  return {.max = place + rows * padded, .sum = place + rows * padded + rows, .acc = place};
}

size_t AttentionCall::room_floats(size_t padded) {
  return kRowsMax * padded + kernel_floats(padded) + 2 * state_floats(kRowsMax, padded);
}

void AttentionCall::attend(const AttentionUnit& unit, float* room) const {
  float* const states = room + kRowsMax * padded_ + kernel_floats(padded_);
  const size_t rows = unit.rows();
  const AttentionState span = state_at(states, rows, padded_);
  const AttentionState merged = state_at(states + state_floats(rows, padded_), rows, padded_);
  const AttentionArgs args = kernel_args(unit, room);
  clear(merged, rows);
  for (size_t s = 0; s < num_spans(unit); ++s) {
    run_span(args, unit, s, span);
    merge(merged, span, rows);
  }
  finish(unit, merged);
}

void AttentionCall::attend_span(const AttentionUnit& unit, size_t span, float* room,
                                const AttentionState& out) const {
  run_span(kernel_args(unit, room), unit, span, out);
}

// Loads the unit's queries into the room.
AttentionArgs AttentionCall::kernel_args(const AttentionUnit& unit, float* room) const {
  load_queries(unit, room);
  return {.q = room,
          .tokens = unit.tokens,
          .group = unit.num_heads,
          .first_position = unit.first_position(),
          .begin = 0,
          .end = 0,
          .padded = padded_,
          .tiles = cache_.tiles(layer_, 0, unit.kv_head),
          .page_bytes = CpuKvCache::page_bytes(cache_.shape()),
          .pages = unit.slice->pages.data(),
          .page_tiles = cache_.page_tiles(),
          .tile_bytes = CpuKvCache::tile_bytes(cache_.shape()),
          .scratch = room + kRowsMax * padded_,
          .out = {}};
}

void AttentionCall::load_queries(const AttentionUnit& unit, float* to) const {
  for (size_t t = 0; t < unit.tokens; ++t) {
    const size_t row = unit.slice->first_row + unit.first_token + t;
    const float* from = q_ + row * q_stride_ + unit.first_head * head_dim_;
    for (size_t h = 0; h < unit.num_heads; ++h, from += head_dim_, to += padded_) {
      for (size_t d = 0; d < head_dim_; ++d) to[d] = from[d] * scale_;
      std::fill(to + head_dim_, to + padded_, 0.0f);
    }
  }
}

void AttentionCall::run_span(AttentionArgs args, const AttentionUnit& unit, size_t span,
                             const AttentionState& out) const {
  args.begin = span * kSpan;
  args.end = std::min(args.begin + kSpan, unit.position_end());
  args.out = out;
  kv_.attend(args);
}

void AttentionCall::clear(const AttentionState& state, size_t rows) const {
  std::fill_n(state.max, rows, -std::numeric_limits<float>::infinity());
  std::fill_n(state.sum, rows, 0.0f);
  std::fill_n(state.acc, rows * padded_, 0.0f);
}

void AttentionCall::merge(const AttentionState& into, const AttentionState& from,
                          size_t rows) const {
  kernels_.merge(into, from, rows, padded_);
}

void AttentionCall::finish(const AttentionUnit& unit, const AttentionState& state) const {
  for (size_t r = 0; r < unit.rows(); ++r) {
    const size_t row = unit.slice->first_row + unit.first_token + r / unit.num_heads;
    const size_t head = unit.first_head + r % unit.num_heads;
    kernels_.finish(state.acc + r * padded_, state.sum[r] / kv_.unit,
                    y_ + row * y_stride_ + head * head_dim_, head_dim_);
  }
}

}  // namespace evener::device::cpu
