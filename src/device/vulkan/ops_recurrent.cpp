// The gated delta net and the convolution before it, on the slots of the state cache.
#include "device/batch_checks.h"
#include "device/vulkan/card_device.h"

namespace evener::device::vulkan {
namespace {

constexpr uint32_t kColumnThreads = 64;
constexpr size_t kColumnHeadDimMax = 256;  // that a thread has a column of

struct ConvArgs {
  uint64_t x, taps, y, states, places;
  uint32_t x_stride, taps_stride, y_stride, slot_floats, rows, channels, num_taps;
};

struct HistoryArgs {
  uint64_t x, states, slices;
  uint32_t x_stride, slot_floats, num_slices, channels, num_taps;
};

struct DeltaInputsArgs {
  uint64_t qkv, beta, alpha, a, dt_bias, keys, gates;
  uint32_t qkv_stride, beta_stride, alpha_stride, rows, key_heads, value_heads, head_dim;
  float norm_eps;
};

struct DeltaNetKernelArgs {
  uint64_t qkv, y, keys, gates, states, slices;
  uint32_t qkv_stride, y_stride, slot_floats, key_heads, value_heads;
};

}  // namespace

void CardDevice::causal_conv_silu(StateCache& cache, size_t layer, const Batch& batch,
                                  const Tensor& x, const Tensor& taps, const Tensor& y) {
  const auto& slots = static_cast<VulkanStateCache&>(cache);
  const StateCacheShape& shape = cache.shape();
  check_slots(batch, shape);
  EVENER_ASSERT(x.rows == batch.num_rows);
  EVENER_ASSERT(y.rows == x.rows);
  EVENER_ASSERT(x.cols == shape.conv_channels);
  EVENER_ASSERT(y.cols == shape.conv_channels);
  EVENER_ASSERT(taps.rows == shape.conv_channels);
  EVENER_ASSERT(taps.cols == shape.conv_taps);
  if (x.rows == 0 || x.cols == 0) return;
  steps_->begin();
  const BatchData::Addresses& at = batch_data_.get(*steps_, batch, 0);
  const ConvArgs args{.x = address_of(x),
                      .taps = address_of(taps),
                      .y = address_of(y),
                      .states = slots.history(layer),
                      .places = at.rows,
                      .x_stride = uint32_t(x.stride),
                      .taps_stride = uint32_t(taps.stride),
                      .y_stride = uint32_t(y.stride),
                      .slot_floats = uint32_t(slots.slot_floats()),
                      .rows = uint32_t(x.rows),
                      .channels = uint32_t(x.cols),
                      .num_taps = uint32_t(taps.cols)};
  const RowGroups groups = spread_rows(x.rows);
  const Touched states = touched(slots.region());
  call({.kernel = "conv", .constants = {kColumnThreads}, .num_constants = 1},
       {groups_of(x.cols, kColumnThreads), groups.y, groups.z}, args,
       {touched(x), touched(taps), states}, {touched(y)}, Work::recurrent);
  if (taps.cols == 1) return;
  const HistoryArgs history{.x = args.x,
                            .states = args.states,
                            .slices = at.slices,
                            .x_stride = args.x_stride,
                            .slot_floats = args.slot_floats,
                            .num_slices = uint32_t(at.num_slices),
                            .channels = args.channels,
                            .num_taps = args.num_taps};
  const RowGroups slices = spread_rows(at.num_slices);
  call({.kernel = "conv_history", .constants = {kColumnThreads}, .num_constants = 1},
       {groups_of(x.cols, kColumnThreads), slices.y, slices.z}, history, {touched(x), states},
       {states}, Work::recurrent);
}

void CardDevice::gated_delta_net(StateCache& cache, size_t layer, const Batch& batch,
                                 const DeltaNetArgs& args, const Tensor& y) {
  const auto& slots = static_cast<VulkanStateCache&>(cache);
  const StateCacheShape& shape = cache.shape();
  const size_t dim = shape.head_dim;
  const size_t heads = shape.num_value_heads;
  check_slots(batch, shape);
  EVENER_ASSERT(args.num_key_heads > 0);
  EVENER_ASSERT(heads % args.num_key_heads == 0);
  EVENER_ASSERT(args.qkv.rows == batch.num_rows);
  EVENER_ASSERT(args.qkv.cols == (2 * args.num_key_heads + heads) * dim);
  EVENER_ASSERT(args.beta.cols == heads);
  EVENER_ASSERT(args.alpha.cols == heads);
  EVENER_ASSERT(args.a.cols == heads);
  EVENER_ASSERT(args.dt_bias.cols == heads);
  EVENER_ASSERT(y.rows == batch.num_rows);
  EVENER_ASSERT(y.cols == heads * dim);
  EVENER_ASSERT(dim <= kColumnHeadDimMax);
  const size_t rows = batch.num_rows;
  if (rows == 0) return;
  steps_->begin();
  const BatchData::Addresses& at = batch_data_.get(*steps_, batch, 0);
  const size_t key_floats = rows * args.num_key_heads * 2 * dim;
  if (!reserve(delta_, sizeof(float) * (key_floats + 2 * rows * heads))) return;
  const Touched between = touched(delta_.region);
  const DeltaInputsArgs inputs{.qkv = address_of(args.qkv),
                               .beta = address_of(args.beta),
                               .alpha = address_of(args.alpha),
                               .a = address_of(args.a),
                               .dt_bias = address_of(args.dt_bias),
                               .keys = between.begin,
                               .gates = between.begin + sizeof(float) * key_floats,
                               .qkv_stride = uint32_t(args.qkv.stride),
                               .beta_stride = uint32_t(args.beta.stride),
                               .alpha_stride = uint32_t(args.alpha.stride),
                               .rows = uint32_t(rows),
                               .key_heads = uint32_t(args.num_key_heads),
                               .value_heads = uint32_t(heads),
                               .head_dim = uint32_t(dim),
                               .norm_eps = args.norm_eps};
  const RowGroups groups = spread_rows(rows);
  call({.kernel = "delta_inputs", .constants = {kColumnThreads}, .num_constants = 1},
       {uint32_t(args.num_key_heads + 1), groups.y, groups.z}, inputs,
       {touched(args.qkv), touched(args.beta), touched(args.alpha), touched(args.a),
        touched(args.dt_bias)},
       {between}, Work::recurrent);
  const DeltaNetKernelArgs net{.qkv = inputs.qkv,
                               .y = address_of(y),
                               .keys = inputs.keys,
                               .gates = inputs.gates,
                               .states = slots.states(layer),
                               .slices = at.slices,
                               .qkv_stride = inputs.qkv_stride,
                               .y_stride = uint32_t(y.stride),
                               .slot_floats = uint32_t(slots.slot_floats()),
                               .key_heads = inputs.key_heads,
                               .value_heads = inputs.value_heads};
  call({.kernel = "delta_net",
        .constants = {kColumnThreads, uint32_t(dim), args.mapping == HeadMapping::tiled},
        .num_constants = 3},
       {groups_of(dim, kColumnThreads), uint32_t(heads), uint32_t(at.num_slices)}, net,
       {touched(args.qkv), between, touched(slots.region())}, {touched(y), touched(slots.region())},
       Work::recurrent,
       {.bytes = at.num_slices * 2 * heads * dim * dim * sizeof(float) +
                 2 * rows * heads * dim * sizeof(float) + (between.end - between.begin),
        .operations = 7 * rows * heads * dim * dim});
}

}  // namespace evener::device::vulkan
