// Goal: what no other kind of device has: two of them on one adapter, whose bits are equal, also at
// once; names; adapters that are not there. The operations: device_*_test.cpp.
#include "device/vulkan/vulkan_device.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "device/rig.h"
#include "device/stored_weight.h"
#include "device/tested_vulkan.h"

namespace evener::device::vulkan {
namespace {

using reference::Matrix;

class VulkanDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (tested_vulkan() == nullptr) GTEST_SKIP() << "needs Vulkan";
  }

  static TestDevice part(size_t number) {
    return {.name = "vulkan", .make = [number](size_t) -> std::shared_ptr<Device> {
              auto made = create_vulkan_device({.adapter = 0, .part = number});
              EXPECT_TRUE(made.has_value()) << to_string(made.error());
              return std::move(made).value();
            }};
  }
};

// A layer's operations one behind the other, on weights and caches of its own.
class LayerRun {
 public:
  explicit LayerRun(const TestDevice& device)
      : rig_(device, 1),
        cache_(rig_.device()
                   .create_kv_cache({.num_layers = 1,
                                     .num_pages = 4,
                                     .page_size = 16,
                                     .num_kv_heads = 2,
                                     .head_dim = 64,
                                     .type = KvType::f16})
                   .value()),
        qkv_(weight(DType::Q4_K, 512)),
        down_(weight(DType::Q8_0, 256)) {}

  // The next `num_rows` positions.
  void step(size_t num_rows) {
    const std::vector<int32_t> pages = {2, 0, 3, 1};
    const Slice slice = {
        .first_row = 0, .num_rows = num_rows, .first_position = position_, .pages = pages};
    const Batch batch = {.slices = {&slice, 1}, .num_rows = num_rows};
    position_ += num_rows;
    Device& device = rig_.device();
    const Tensor x = rig_.put(random_matrix(random_, num_rows, 256));
    const Tensor normed = rig_.empty(num_rows, 256);
    const Tensor qkv = rig_.empty(num_rows, 512);
    const Tensor heads = rig_.empty(num_rows, 256);
    const Tensor out = rig_.empty(num_rows, 256);
    device.rms_norm(x, gain_, 1e-6f, normed);
    const LinearPart first = {.weight = qkv_.get(), .bias = {}, .y = qkv};
    device.linear(normed, {&first, 1});
    device.store_kv(*cache_, 0, batch, qkv.columns(256, 128), qkv.columns(384, 128));
    device.attention(*cache_, 0, batch, qkv.columns(0, 256), 0.125f, heads);
    const LinearPart second = {.weight = down_.get(), .bias = {}, .y = out};
    device.linear(heads, {&second, 1});
    device.silu_mul(out, normed, out);
    device.add(x, out);
    last_ = out;
  }
  std::vector<float> result() { return rig_.get(last_); }

 private:
  std::unique_ptr<Weight> weight(DType dtype, size_t outputs) {
    const Stored stored = random_weight(random_, dtype, outputs, 256);
    return rig_.device().upload(stored.source(), WeightUse::linear).value();
  }

  Rig rig_;
  std::mt19937 random_{4};
  std::unique_ptr<KvCache> cache_;
  std::unique_ptr<Weight> qkv_;
  std::unique_ptr<Weight> down_;
  Tensor gain_ = rig_.put(random_matrix(random_, 1, 256));
  size_t position_ = 0;
  Tensor last_;
};

std::vector<float> run_layers(const TestDevice& device) {
  LayerRun run(device);
  for (const size_t rows : {20, 1, 1, 7, 1}) run.step(rows);
  return run.result();
}

TEST_F(VulkanDevice, TwoOnOneAdapterGiveEqualBitsStepByStep) {
  LayerRun first(part(0));
  LayerRun second(part(1));
  for (const size_t rows : {20, 1, 1, 7, 1}) {
    first.step(rows);
    second.step(rows);
    expect_equal_bits(second.result(), first.result(), std::to_string(rows) + " rows");
  }
}

TEST_F(VulkanDevice, TwoOnOneAdapterMayRunAtOnce) {
  const std::vector<float> wanted = run_layers(part(0));
  std::vector<std::vector<float>> results(2);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 2; ++i) {
    threads.emplace_back([i, &results] { results[i] = run_layers(part(i)); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) expect_equal_bits(result, wanted, "at once");
}

// Nothing waits before the last read: all steps may lie recorded until then.
TEST_F(VulkanDevice, StepsThatNobodyReadsAreRunAllTheSame) {
  LayerRun read(part(0));
  LayerRun unread(part(0));
  for (const size_t rows : {5, 1, 1, 1, 9, 1, 1}) {
    read.step(rows);
    (void)read.result();
    unread.step(rows);
  }
  expect_equal_bits(unread.result(), read.result(), "the last step");
}

TEST_F(VulkanDevice, SaysWhatItIs) {
  const Adapter& adapter = tested_vulkan()->adapters().front();
  const auto first = create_vulkan_device({.adapter = 0, .part = 0});
  const auto second = create_vulkan_device({.adapter = 0, .part = 1});
  ASSERT_TRUE(first.has_value()) << to_string(first.error());
  ASSERT_TRUE(second.has_value()) << to_string(second.error());
  EXPECT_EQ((*first)->info().name, "vulkan:0");
  EXPECT_EQ((*second)->info().name, "vulkan:0#1");
  EXPECT_NE((*first)->info().description.find(adapter.name), std::string::npos)
      << (*first)->info().description;
  EXPECT_GT((*first)->info().memory_bytes, 0u);
  EXPECT_EQ((*first)->info().cache_layout, (*second)->info().cache_layout);
  EXPECT_NE((*first)->info().cache_layout, "");
}

TEST_F(VulkanDevice, AnAdapterThatIsNotThereIsAnError) {
  const auto device = create_vulkan_device({.adapter = 999});
  ASSERT_FALSE(device.has_value());
  EXPECT_EQ(device.error().code, Code::invalid_argument);
}

}  // namespace
}  // namespace evener::device::vulkan
