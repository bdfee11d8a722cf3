// The gated delta net and the convolution before it, on the slots of the state cache.
#include <algorithm>
#include <cmath>

#include "device/batch_checks.h"
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

void transpose_taps(const float* taps, size_t stride, size_t num_taps, size_t width, float* to) {
  for (size_t c = 0; c < width; ++c) {
    for (size_t j = 0; j < num_taps; ++j) to[j * width + c] = taps[c * stride + j];
  }
}

void check_delta_net(const StateCacheShape& shape, size_t rows, const DeltaNetArgs& args,
                     const Tensor& y) {
  const size_t heads = shape.num_value_heads;
  EVENER_ASSERT(args.num_key_heads > 0);
  EVENER_ASSERT(heads % args.num_key_heads == 0);
  EVENER_ASSERT(args.qkv.rows == rows);
  EVENER_ASSERT(args.qkv.cols == (2 * args.num_key_heads + heads) * shape.head_dim);
  EVENER_ASSERT(args.beta.rows == rows);
  EVENER_ASSERT(args.beta.cols == heads);
  EVENER_ASSERT(args.alpha.rows == rows);
  EVENER_ASSERT(args.alpha.cols == heads);
  EVENER_ASSERT(args.a.cols == heads);
  EVENER_ASSERT(args.dt_bias.cols == heads);
  EVENER_ASSERT(y.rows == rows);
  EVENER_ASSERT(y.cols == heads * shape.head_dim);
}

// One gated delta net operation; its pieces are the value heads of each slice.
class DeltaNetCall {
 public:
  DeltaNetCall(const OpsKernels& kernels, const CpuStateCache& cache, size_t layer,
               const DeltaNetArgs& args, const Tensor& y)
      : kernels_(kernels),
        cache_(cache),
        layer_(layer),
        args_(args),
        dim_(cache.shape().head_dim),
        padded_(CpuStateCache::padded(cache.shape())),
        qkv_(data_of(args.qkv)),
        beta_(data_of(args.beta)),
        alpha_(data_of(args.alpha)),
        a_(data_of(args.a)),
        dt_bias_(data_of(args.dt_bias)),
        y_(data_of(y)),
        y_stride_(y.stride) {}

  // All tokens of a slice through one value head, kTokens at a time.
  void run(const Slice& slice, size_t head, const Room& room) const {
    float* const state = cache_.state(size_t(slice.state_slot), layer_, head);
    for (size_t t = 0; t < slice.num_rows; t += kTokens) {
      const size_t tokens = std::min(kTokens, slice.num_rows - t);
      const size_t first_row = slice.first_row + t;
      load(first_row, tokens, head, room);
      kernels_.gated_delta_net({.k = room.k,
                                .q = room.q,
                                .decay = room.decay,
                                .beta = room.beta,
                                .v = room.v,
                                .v_stride = padded_,
                                .y = room.y,
                                .y_stride = padded_,
                                .state = state,
                                .tokens = tokens,
                                .head_dim = dim_,
                                .padded = padded_});
      for (size_t i = 0; i < tokens; ++i) {
        std::copy_n(room.y + i * padded_, dim_, y_ + (first_row + i) * y_stride_ + head * dim_);
      }
    }
  }

 private:
  size_t key_head(size_t head) const {
    const size_t key_heads = args_.num_key_heads;
    if (args_.mapping == HeadMapping::tiled) return head % key_heads;
    return head / (cache_.shape().num_value_heads / key_heads);
  }

  void load(size_t first_row, size_t tokens, size_t head, const Room& room) const {
    const size_t key_heads = args_.num_key_heads;
    const float q_scale = 1 / std::sqrt(float(dim_));
    for (size_t t = 0; t < tokens; ++t) {
      const size_t row = first_row + t;
      const float* const q = qkv_ + row * args_.qkv.stride + key_head(head) * dim_;
      const float* const k = q + key_heads * dim_;
      const float* const v = qkv_ + row * args_.qkv.stride + (2 * key_heads + head) * dim_;
      kernels_.l2_norm(q, dim_, args_.norm_eps, q_scale, room.q + t * padded_, padded_);
      kernels_.l2_norm(k, dim_, args_.norm_eps, 1, room.k + t * padded_, padded_);
      std::copy_n(v, dim_, room.v + t * padded_);
      const float step = softplus(alpha_[row * args_.alpha.stride + head] + dt_bias_[head]);
      room.decay[t] = std::exp(a_[head] * step);
      room.beta[t] = sigmoid(beta_[row * args_.beta.stride + head]);
    }
    std::fill_n(room.k + tokens * padded_, padded_, 0.0f);
  }

  const OpsKernels& kernels_;
  const CpuStateCache& cache_;
  size_t layer_;
  const DeltaNetArgs& args_;
  size_t dim_;
  size_t padded_;
  const float* qkv_;
  const float* beta_;
  const float* alpha_;
  const float* a_;
  const float* dt_bias_;
  float* y_;
  size_t y_stride_;
};

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
  check_slots(batch, shape);
  check_delta_net(shape, batch.num_rows, args, y);
  const DeltaNetCall call(kernels_, slots, layer, args, y);

  const size_t heads = shape.num_value_heads;
  const size_t rows_typical = batch.num_rows / std::max<size_t>(batch.slices.size(), 1);
  const size_t cost = 8 * shape.head_dim * shape.head_dim * rows_typical;
  split(batch.slices.size() * heads, cost, [&](size_t begin, size_t end, size_t thread) {
    const Room room = room_at(scratch(thread, room_floats(CpuStateCache::padded(shape))),
                              CpuStateCache::padded(shape));
    for (size_t i = begin; i < end; ++i) call.run(batch.slices[i / heads], i % heads, room);
  });
}

void KernelDevice::reset_state(StateCache& cache, int32_t slot) {
  const auto& slots = static_cast<CpuStateCache&>(cache);
  EVENER_ASSERT(slot >= 0);
  std::fill_n(slots.slot(size_t(slot)), CpuStateCache::slot_floats(cache.shape()), 0.0f);
}

}  // namespace evener::device::cpu
