#include "parallel/cost_model.h"

#include <gtest/gtest.h>

namespace evener::parallel {
namespace {

constexpr ModelWork kWork{.num_layers = 10,
                          .hidden_size = 1000,
                          .weight_bytes = 1e9,
                          .flops_per_token = 2e9,
                          .kv_bytes_per_token = 1e4};
constexpr DeviceSpeed kDevice{.bytes_per_s = 1e10, .flops_per_s = 1e12, .layer_seconds = 0};
constexpr LinkSpeed kFree{.bytes_per_s = 1e30, .latency_seconds = 0, .peer = true};
constexpr LinkSpeed kSlow{.bytes_per_s = 1e9, .latency_seconds = 1e-5, .peer = true};

TEST(CostModel, OneDeviceReadsItsWeightsAndItsContext) {
  const Speeds speeds = predict_one(kWork, kDevice, 1e4);
  EXPECT_DOUBLE_EQ(speeds.decode, 1 / (0.1 + 0.01));
  EXPECT_DOUBLE_EQ(speeds.prefill, 500);
}

TEST(CostModel, SharesOverAFreeLinkAreAsManyTimesFaster) {
  const Speeds one = predict_one(kWork, kDevice, 1e4);
  const Speeds four = predict_shards(kWork, kDevice, kFree, 4, 1e4, 512);
  EXPECT_NEAR(four.decode, 4 * one.decode, 1e-9);
  EXPECT_NEAR(four.prefill, 4 * one.prefill, 1e-9);
}

TEST(CostModel, SumsWaitTwiceALayer) {
  const Speeds two = predict_shards(kWork, kDevice, kSlow, 2, 0, 1);
  EXPECT_DOUBLE_EQ(two.decode, 1 / (0.05 + 20 * 2 * (1e-5 + 4000.0 / 2 / 1e9)));
}

TEST(CostModel, ThroughTheHostGoesUpAndDown) {
  LinkSpeed link = kSlow;
  link.peer = false;
  EXPECT_DOUBLE_EQ(all_reduce_seconds(link, 2, 1e6), 2 * (1e-5 + 1e-3));
  link.devices_a_link = 2;  // behind a switch they share the way
  EXPECT_DOUBLE_EQ(all_reduce_seconds(link, 2, 1e6), 2 * (1e-5 + 2e-3));
  EXPECT_EQ(all_reduce_seconds(link, 1, 1e6), 0);
}

TEST(CostModel, APipeIsFilledAndDrainedOnce) {
  const Speeds one = predict_one(kWork, kDevice, 0);
  EXPECT_NEAR(predict_stages(kWork, kDevice, kFree, 2, 0, 512, 1).prefill, one.prefill, 1e-9);
  EXPECT_NEAR(predict_stages(kWork, kDevice, kFree, 2, 0, 512, 4).prefill, 1.6 * one.prefill, 1e-9);
}

TEST(CostModel, AStreamAloneGainsNothingFromStages) {
  const Speeds one = predict_one(kWork, kDevice, 0);
  const Speeds three = predict_stages(kWork, kDevice, kFree, 3, 0, 512, 8);
  EXPECT_NEAR(three.decode, one.decode, 1e-9);
  EXPECT_NEAR(three.decode_all, 3 * one.decode, 1e-9);
}

}  // namespace
}  // namespace evener::parallel
