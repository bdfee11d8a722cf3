// Goal: a watched device computes what the device inside it computes, and books each call under its
// kind. Method: the same calls on both, compared for equal bits; calls are counted, time is not.
#include "device/watched_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "device/cpu/cpu_device.h"
#include "device/lossy_device.h"
#include "device/rig.h"

namespace evener::device {
namespace {

constexpr size_t kRows = 3;
constexpr size_t kDim = 32;

std::unique_ptr<Device> cpu_device() {
  return std::move(cpu::create_cpu_device({.numa_node = 0, .num_threads = 1, .isa = {}})).value();
}

// Memory of one device, and numbers that are the same on every one.
class Bench {
 public:
  explicit Bench(Device& device) : device_(device) {}

  Tensor random(size_t rows, size_t cols) {
    std::vector<float> values(rows * cols);
    std::normal_distribution<float> normal;
    for (float& value : values) value = normal(random_);
    const Tensor tensor = empty(rows, cols);
    device_.write(values, tensor);
    return tensor;
  }
  Tensor empty(size_t rows, size_t cols) {
    buffers_.push_back(std::move(device_.allocate(rows * cols * sizeof(float))).value());
    return {buffers_.back().get(), 0, rows, cols, cols};
  }
  void keep(const Tensor& tensor) {
    std::vector<float> values(tensor.rows * tensor.cols);
    device_.read(tensor, values);
    results_.insert(results_.end(), values.begin(), values.end());
  }
  const std::vector<float>& results() const { return results_; }

 private:
  Device& device_;
  std::mt19937 random_{3};
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<float> results_;
};

std::unique_ptr<Weight> weight(Device& device, size_t num_experts, WeightUse use) {
  static const std::vector<float> values = [] {
    std::vector<float> numbers(4 * kDim * kDim);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = float(i % 17) / 16 - 0.5f;
    return numbers;
  }();
  return std::move(device.upload({.name = "w",
                                  .dtype = DType::F32,
                                  .outputs = kDim,
                                  .inputs = kDim,
                                  .bytes = std::as_bytes(std::span(values))
                                               .first(num_experts * kDim * kDim * sizeof(float)),
                                  .num_experts = num_experts},
                                 use))
      .value();
}

void run_dense(Device& device, Bench& bench) {
  const auto table = weight(device, 1, WeightUse::embedding);
  const auto matrix = weight(device, 1, WeightUse::linear);
  const std::vector<int32_t> ids = {4, 0, 31};
  const Tensor x = bench.empty(kRows, kDim);
  device.embedding(*table, ids, x);
  const Tensor y = bench.empty(kRows, kDim);
  const LinearPart part{.weight = matrix.get(), .bias = {}, .y = y};
  device.linear(x, {&part, 1});
  bench.keep(x);
  bench.keep(y);
}

void run_elements(Device& device, Bench& bench) {
  const Tensor x = bench.random(kRows, kDim);
  const Tensor z = bench.random(kRows, kDim);
  const Tensor gain = bench.random(1, kDim);
  const Tensor y = bench.empty(kRows, kDim);
  device.rms_norm(x, gain, 1e-6f, y);
  bench.keep(y);
  device.gated_rms_norm(x, gain, 1e-6f, z, y);
  bench.keep(y);
  device.silu_mul(x, z, y);
  bench.keep(y);
  device.sigmoid_mul(x, z, y);
  device.add(x, y);
  bench.keep(y);
  const std::vector<int32_t> rows = {2, 0, 1};
  device.gather_rows(x, rows, y);
  bench.keep(y);
  std::vector<int32_t> best(kRows, -1);
  device.arg_max(y, best);
  EXPECT_TRUE(std::ranges::none_of(best, [](int32_t column) { return column < 0; }));
}

void run_attention(Device& device, Bench& bench) {
  const auto cache = std::move(device.create_kv_cache({.num_layers = 1,
                                                       .num_pages = 1,
                                                       .page_size = 16,
                                                       .num_kv_heads = 1,
                                                       .head_dim = kDim}))
                         .value();
  const std::vector<int32_t> pages = {0};
  const Slice slice{.first_row = 0, .num_rows = kRows, .first_position = 0, .pages = pages};
  const Batch batch{.slices = {&slice, 1}, .num_rows = kRows};
  const std::vector<int32_t> positions = {0, 1, 2};
  const std::vector<double> frequencies(kDim / 2, 0.1);
  const Tensor angles = bench.empty(kRows, kDim);
  const Tensor q = bench.random(kRows, kDim);
  const Tensor y = bench.empty(kRows, kDim);
  device.rope_angles(positions, frequencies, 1, angles);
  device.rope(q, angles, RopePairing::halves);
  device.store_kv(*cache, 0, batch, q, bench.random(kRows, kDim));
  device.attention(*cache, 0, batch, q, 0.2f, y);
  bench.keep(y);
  std::vector<std::byte> page(cache->stored_page_bytes());
  device.read_page(*cache, 0, page);
  EXPECT_NE(page, std::vector<std::byte>(page.size()));
  const std::vector<std::byte> zeros(page.size());
  device.write_page(*cache, 0, zeros);
  device.read_page(*cache, 0, page);
  EXPECT_EQ(page, zeros);
}

void run_recurrent(Device& device, Bench& bench) {
  constexpr size_t kChannels = 3 * kDim;
  const auto cache = std::move(device.create_state_cache({.num_layers = 1,
                                                          .num_slots = 2,
                                                          .conv_taps = 4,
                                                          .conv_channels = kChannels,
                                                          .num_value_heads = 1,
                                                          .head_dim = kDim}))
                         .value();
  device.reset_state(*cache, 0);
  const Slice slice{
      .first_row = 0, .num_rows = kRows, .first_position = 0, .pages = {}, .state_slot = 0};
  const Batch batch{.slices = {&slice, 1}, .num_rows = kRows};
  const Tensor qkv = bench.empty(kRows, kChannels);
  const Tensor y = bench.empty(kRows, kDim);
  device.causal_conv_silu(*cache, 0, batch, bench.random(kRows, kChannels),
                          bench.random(kChannels, 4), qkv);
  device.gated_delta_net(*cache, 0, batch,
                         {.qkv = qkv,
                          .beta = bench.random(kRows, 1),
                          .alpha = bench.random(kRows, 1),
                          .a = bench.random(1, 1),
                          .dt_bias = bench.random(1, 1),
                          .num_key_heads = 1,
                          .norm_eps = 1e-6f},
                         y);
  bench.keep(y);
  std::vector<std::byte> state(cache->stored_slot_bytes());
  std::vector<std::byte> copy(state.size());
  device.copy_state(*cache, 0, 1);
  device.read_state(*cache, 0, state);
  device.read_state(*cache, 1, copy);
  EXPECT_EQ(copy, state);
  EXPECT_NE(copy, std::vector<std::byte>(copy.size()));
  std::ranges::reverse(state);
  device.write_state(*cache, 1, state);
  device.read_state(*cache, 1, copy);
  EXPECT_EQ(copy, state);
}

void run_experts(Device& device, Bench& bench) {
  const auto routing = std::move(device.create_routing({.num_layers = 1,
                                                        .num_rows = kRows,
                                                        .num_experts = 4,
                                                        .num_chosen = 2,
                                                        .hidden_size = kDim,
                                                        .intermediate_size = kDim}))
                           .value();
  const auto stack = weight(device, 4, WeightUse::linear);
  const Tensor y = bench.empty(kRows, kDim);
  const auto total_uses = [&] {
    std::vector<uint64_t> uses(4);
    device.read_expert_uses(*routing, 0, uses);
    return std::accumulate(uses.begin(), uses.end(), uint64_t{0});
  };
  device.route(*routing, 0, bench.random(kRows, 4), {});
  EXPECT_EQ(total_uses(), kRows * 2);
  device.reset_expert_uses(*routing);
  EXPECT_EQ(total_uses(), 0U);
  device.expert_ffn(*routing, bench.random(kRows, kDim), {stack.get(), stack.get(), stack.get()},
                    y);
  bench.keep(y);
  std::vector<int32_t> experts(kRows * 2);
  std::vector<float> weights(kRows * 2);
  device.read_choices(*routing, experts, weights);
  EXPECT_NE(experts[0], experts[1]);
}

std::vector<float> run_all(Device& device) {
  Bench bench(device);
  run_dense(device, bench);
  run_elements(device, bench);
  run_attention(device, bench);
  run_recurrent(device, bench);
  run_experts(device, bench);
  return bench.results();
}

TEST(WatchedDevice, ComputesTheSameAndBooksEachCallUnderItsKind) {
  const auto times = std::make_shared<WorkTimes>();
  size_t num_beats = 0;
  const auto timed =
      watch_device(cpu_device(), {.times = times, .before_call = [&] { ++num_beats; }});
  EXPECT_EQ(timed->info().name, "cpu:0");
  const std::vector<float> got = run_all(*timed);
  expect_equal_bits(got, run_all(*cpu_device()), "timed");

  const auto calls = [&times](Work work) { return times->of(work).calls; };
  EXPECT_EQ(calls(Work::dense), 1U);
  EXPECT_EQ(calls(Work::embedding), 1U);
  EXPECT_EQ(calls(Work::elementwise), 6U);
  EXPECT_EQ(calls(Work::attention), 4U);
  EXPECT_EQ(calls(Work::recurrent), 4U);
  EXPECT_EQ(calls(Work::experts), 2U);
  EXPECT_EQ(calls(Work::sampling), 1U);
  EXPECT_EQ(calls(Work::idle), 0U);
  // Tensors written, results read, what experts were chosen: three times; pages and slots.
  EXPECT_EQ(calls(Work::copies), 13U + 10U + 3U + 3U + 4U);
  EXPECT_EQ(num_beats, 1U + 1U + 6U + 4U + 4U + 2U + 1U + 33U);
}

TEST(WatchedDevice, HandsOnThatItIsLost) {
  const auto fate = std::make_shared<DeviceFate>();
  const auto watched = watch_device(std::make_shared<LossyDevice>(cpu_device(), fate), {});
  EXPECT_TRUE(watched->status().has_value());
  fate->is_lost = true;
  ASSERT_FALSE(watched->status().has_value());
  EXPECT_EQ(watched->status().error().why, "VK_ERROR_DEVICE_LOST");
}

TEST(WatchedDevice, GivesSignsOfLifeWhileTheDeviceWaits) {
  const auto fate = std::make_shared<DeviceFate>();
  size_t num_beats = 0;
  {
    const auto watched = watch_device(std::make_shared<LossyDevice>(cpu_device(), fate),
                                      {.before_call = [&] { ++num_beats; }});
    ASSERT_TRUE(fate->sign);
    fate->sign();
    EXPECT_EQ(num_beats, 1U);
  }
  EXPECT_FALSE(fate->sign) << "who is to be told is gone";
}

TEST(WatchedDevice, LeavesTheTimesToADeviceThatMeasuresItself) {
  const auto fate = std::make_shared<DeviceFate>();
  fate->measures = true;
  const auto times = std::make_shared<WorkTimes>();
  size_t num_beats = 0;
  const auto watched = watch_device(std::make_shared<LossyDevice>(cpu_device(), fate),
                                    {.times = times, .before_call = [&] { ++num_beats; }});
  EXPECT_EQ(fate->times, times);
  Bench bench(*watched);
  run_dense(*watched, bench);
  EXPECT_EQ(times->of(Work::dense).calls, 0U);
  EXPECT_EQ(times->of(Work::copies).calls, 0U);
  EXPECT_GT(num_beats, 0U);
}

}  // namespace
}  // namespace evener::device
