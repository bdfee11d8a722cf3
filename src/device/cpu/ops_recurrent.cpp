// The gated delta net and the convolution before it, on the slots of the state cache.
#include <algorithm>
#include <cmath>

#include "device/cpu/batch_rows.h"
#include "device/cpu/cpu_buffer.h"
#include "device/cpu/cpu_state_cache.h"
#include "device/cpu/kernel_device.h"

namespace evener::device::cpu {
namespace {

constexpr size_t kConvChannels = 256;  // that one unit of work convolves
constexpr size_t kTokens = 32;         // whose keys and queries stay close while the state passes
constexpr size_t kConvCost = 14;       // of a channel beside its taps
constexpr size_t kTransposeCost = 8;   // of a tap

// Room of one thread for kTokens tokens of a value head.
struct Room {
  float* k;  // [kTokens + 1, padded]
  float* q;  // [kTokens, padded]
  float* v;  // [kTokens, padded]: a copy, because rows of the batch collide in the caches
  float* y;  // [kTokens, padded]: likewise
  float* decay;
  float* beta;
};

size_t room_floats(size_t padded) { return (4 * kTokens + 1) * padded + 2 * kTokens; }

Room room_at(float* place, size_t padded) {
  float* const q = place + (kTokens + 1) * padded;
  float* const v = q + kTokens * padded;
  float* const y = v + kTokens * padded;
  float* const decay = y + kTokens * padded;
  return {.k = place, .q = q, .v = v, .y = y, .decay = decay, .beta = decay + kTokens};
}

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

float softplus(float x) { return std::max(x, 0.0f) + std::log1p(std::exp(-std::abs(x))); }

void check_slots(const Batch& batch, const StateCacheShape& shape) {
  check_slices(batch);
  for (const Slice& slice : batch.slices) {
    EVENER_ASSERT(slice.state_slot >= 0);
    EVENER_ASSERT(size_t(slice.state_slot) < shape.num_slots);
  }
}

void transpose_taps(const float* taps, size_t stride, size_t num_taps, size_t width, float* to) {
  for (size_t c = 0; c < width; ++c) {
    for (size_t j = 0; j < num_taps; ++j) to[j * width + c] = taps[c * stride + j];
  }
}

}  // namespace

size_t recurrent_scratch_floats(const StateCacheShape& shape) {
  return std::max(room_floats(CpuStateCache::padded(shape)), shape.conv_taps * kConvChannels);
}

void KernelDevice::causal_conv_silu(StateCache& cache, size_t layer, const Batch& batch,
                                    const Tensor& x, const Tensor& taps, const Tensor& y) {
  const auto& slots = static_cast<CpuStateCache&>(cache);
  const StateCacheShape& shape = cache.shape();
  const size_t channels = shape.conv_channels;
  check_slots(batch, shape);
  EVENER_ASSERT(x.rows == batch.num_rows);
  EVENER_ASSERT(y.rows == x.rows);
  EVENER_ASSERT(x.cols == channels);
  EVENER_ASSERT(y.cols == channels);
  EVENER_ASSERT(taps.rows == channels);
  EVENER_ASSERT(taps.cols == shape.conv_taps);

  const float* const from = data_of(x);
  const float* const weights = data_of(taps);
  float* const to = data_of(y);
  const size_t parts = (channels + kConvChannels - 1) / kConvChannels;
  const size_t rows_typical = x.rows / std::max<size_t>(batch.slices.size(), 1);
  const size_t cost = kConvChannels * (rows_typical * kConvCost + shape.conv_taps * kTransposeCost);
  split(batch.slices.size() * parts, cost, [&](size_t begin, size_t end, size_t thread) {
    float* const turned = scratch(thread, shape.conv_taps * kConvChannels);
    for (size_t i = begin; i < end; ++i) {
      const Slice& slice = batch.slices[i / parts];
      const size_t c = i % parts * kConvChannels;
      const size_t width = std::min(kConvChannels, channels - c);
      transpose_taps(weights + c * taps.stride, taps.stride, shape.conv_taps, width, turned);
      kernels_.causal_conv_silu({.x = from + slice.first_row * x.stride + c,
                                 .x_stride = x.stride,
                                 .history = slots.conv_rows(size_t(slice.state_slot), layer) + c,
                                 .history_stride = channels,
                                 .taps = turned,
                                 .num_taps = shape.conv_taps,
                                 .y = to + slice.first_row * y.stride + c,
                                 .y_stride = y.stride,
                                 .rows = slice.num_rows,
                                 .width = width});
    }
  });
}

void KernelDevice::gated_delta_net(StateCache& cache, size_t layer, const Batch& batch,
                                   const DeltaNetArgs& args, const Tensor& y) {
  const auto& slots = static_cast<CpuStateCache&>(cache);
  const StateCacheShape& shape = cache.shape();
  const size_t dim = shape.head_dim;
  const size_t padded = CpuStateCache::padded(shape);
  const size_t heads = shape.num_value_heads;
  const size_t key_heads = args.num_key_heads;
  check_slots(batch, shape);
  EVENER_ASSERT(key_heads > 0);
  EVENER_ASSERT(heads % key_heads == 0);
  EVENER_ASSERT(args.qkv.rows == batch.num_rows);
  EVENER_ASSERT(args.qkv.cols == (2 * key_heads + heads) * dim);
  EVENER_ASSERT(args.beta.rows == batch.num_rows);
  EVENER_ASSERT(args.beta.cols == heads);
  EVENER_ASSERT(args.alpha.rows == batch.num_rows);
  EVENER_ASSERT(args.alpha.cols == heads);
  EVENER_ASSERT(args.a.cols == heads);
  EVENER_ASSERT(args.dt_bias.cols == heads);
  EVENER_ASSERT(y.rows == batch.num_rows);
  EVENER_ASSERT(y.cols == heads * dim);

  const float* const qkv = data_of(args.qkv);
  const float* const beta = data_of(args.beta);
  const float* const alpha = data_of(args.alpha);
  const float* const a = data_of(args.a);
  const float* const dt_bias = data_of(args.dt_bias);
  float* const out = data_of(y);
  const float q_scale = 1 / std::sqrt(float(dim));

  const auto run_tokens = [&](const Slice& slice, size_t first_row, size_t tokens, size_t head,
                              size_t thread) {
    const Room room = room_at(scratch(thread, room_floats(padded)), padded);
    const size_t key_head =
        args.mapping == HeadMapping::tiled ? head % key_heads : head / (heads / key_heads);
    for (size_t t = 0; t < tokens; ++t) {
      const float* const row = qkv + (first_row + t) * args.qkv.stride;
      kernels_.l2_norm(row + key_head * dim, dim, args.norm_eps, q_scale, room.q + t * padded,
                       padded);
      kernels_.l2_norm(row + (key_heads + key_head) * dim, dim, args.norm_eps, 1,
                       room.k + t * padded, padded);
      const float step =
          softplus(alpha[(first_row + t) * args.alpha.stride + head] + dt_bias[head]);
      room.decay[t] = std::exp(a[head] * step);
      room.beta[t] = sigmoid(beta[(first_row + t) * args.beta.stride + head]);
    }
    std::fill_n(room.k + tokens * padded, padded, 0.0f);
    kernels_.gated_delta_net({.k = room.k,
                              .q = room.q,
                              .decay = room.decay,
                              .beta = room.beta,
                              .v = qkv + first_row * args.qkv.stride + (2 * key_heads + head) * dim,
                              .v_stride = args.qkv.stride,
                              .y = out + first_row * y.stride + head * dim,
                              .y_stride = y.stride,
                              .state = slots.state(size_t(slice.state_slot), layer, head),
                              .tokens = tokens,
                              .head_dim = dim,
                              .padded = padded});
  };

  const size_t rows_typical = batch.num_rows / std::max<size_t>(batch.slices.size(), 1);
  split(batch.slices.size() * heads, 8 * dim * padded * rows_typical,
        [&](size_t begin, size_t end, size_t thread) {
          for (size_t i = begin; i < end; ++i) {
            const Slice& slice = batch.slices[i / heads];
            for (size_t t = 0; t < slice.num_rows; t += kTokens) {
              run_tokens(slice, slice.first_row + t, std::min(kTokens, slice.num_rows - t),
                         i % heads, thread);
            }
          }
        });
}

void KernelDevice::reset_state(StateCache& cache, int32_t slot) {
  const auto& slots = static_cast<CpuStateCache&>(cache);
  EVENER_ASSERT(slot >= 0);
  std::fill_n(slots.slot(size_t(slot)), CpuStateCache::slot_floats(cache.shape()), 0.0f);
}

}  // namespace evener::device::cpu
