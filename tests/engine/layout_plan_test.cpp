#include "engine/layout_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/cpu/cpu_node.h"
#include "device/measure_speed.h"
#include "engine/model_cost.h"
#include "engine/models.h"
#include "engine/open_model.h"
#include "model/loader.h"

namespace evener::engine {
namespace {

gguf::File open_golden(const std::string& name) {
  return std::move(open_model(model_path(name))).value();
}

// Two groups of one core each exist on every machine with two cores.
EngineOptions two_cores(const std::string& model) {
  EngineOptions options = small_options(model);
  options.num_threads = 0;
  options.parallel.devices = {"cpu:0[0]", "cpu:0[1]"};
  return options;
}

bool has_two_cores() { return device::cpu::read_cpu_node(0)->cpus.size() >= 2; }

TEST(ModelCost, ItsLayersAndHeadAreWhatLoadingTakes) {
  for (const std::string name : {"llama", "qwen3moe", "qwen35"}) {
    const gguf::File file = open_golden(name);
    const auto cost = model_cost(file, {.num_tokens = 100, .num_rows = 8, .num_logit_rows = 1});
    ASSERT_TRUE(cost.has_value()) << to_string(cost.error());
    const auto model = std::move(model::describe_model(file)).value();
    EXPECT_EQ(cost->layers.size(), model->config().num_layers);
    parallel::PartCost sum = cost->last;
    for (const auto& layer : cost->layers) {
      EXPECT_GT(layer.weight_bytes, 0u) << name;
      EXPECT_GT(layer.cache_bytes, 0u) << name;
      sum += layer;
    }
    EXPECT_GT(cost->scratch_bytes, 0u);
    EXPECT_LE(sum.bytes_per_token, double(sum.weight_bytes));
    // The embedding, which stays in the file, and the head may be one tensor.
    const size_t loaded = model::weight_bytes(file, *model);
    EXPECT_LE(sum.weight_bytes, loaded + file.find_tensor("token_embd.weight")->size_bytes());
    EXPECT_GE(sum.weight_bytes + file.find_tensor("token_embd.weight")->size_bytes(), loaded);
  }
}

TEST(ModelCost, ATokenReadsFewOfTheExperts) {
  const gguf::File file = open_golden("qwen3moe");
  const auto cost = model_cost(file, {.num_tokens = 64, .num_rows = 8, .num_logit_rows = 1});
  ASSERT_TRUE(cost.has_value()) << to_string(cost.error());
  const auto& layer = cost->layers.front();
  EXPECT_LT(layer.bytes_per_token, 0.9 * double(layer.weight_bytes));
}

TEST(PlanRanks, OneDeviceHasItAll) {
  EngineOptions options = small_options();
  options.parallel.devices = {"cpu:0"};
  const auto plan = plan_ranks(open_golden("llama"), options);
  ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
  EXPECT_EQ(plan->layout.grid().num_ranks(), 1u);
  EXPECT_EQ(plan->devices, std::vector<std::string>{"cpu:0"});
  EXPECT_EQ(plan->why, "");
}

TEST(PlanRanks, WhatWasSaidIsDone) {
  if (!has_two_cores()) GTEST_SKIP() << "needs two cores";
  EngineOptions options = two_cores("llama");
  auto plan = plan_ranks(open_golden("llama"), options);
  ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
  EXPECT_EQ(plan->layout.ratio, (std::vector<double>{1, 1}));
  EXPECT_EQ(plan->why, "");

  options.parallel.borders = {1};
  plan = plan_ranks(open_golden("llama"), options);
  ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
  EXPECT_EQ(plan->layout.borders, std::vector<size_t>{1});
  EXPECT_EQ(plan->layout.ratio, std::vector<double>{1});
  EXPECT_EQ(plan->devices, options.parallel.devices);
}

TEST(PlanRanks, DevicesThatAreAlikeShareLayersWithoutBeingMeasured) {
  if (!has_two_cores()) GTEST_SKIP() << "needs two cores";
  EngineOptions options = two_cores("llama");
  options.parallel.num_stages = 2;
  const auto plan = plan_ranks(open_golden("llama"), options);
  ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
  ASSERT_EQ(plan->layout.borders.size(), 1u);
  EXPECT_EQ(plan->why, "--devices cpu:0[0],cpu:0[1] --split " +
                           std::to_string(plan->layout.borders[0]) + ", the devices being alike");
}

// With whatever adapter there is: a software one on most machines that build.
TEST(PlanRanks, DevicesOnOneCardAreAlike) {
  EngineOptions options = two_cores("llama");
  options.parallel.devices = {"vulkan:0", "vulkan:0#1"};
  options.parallel.num_stages = 2;
  const auto plan = plan_ranks(open_golden("llama"), options);
  if (!plan && plan.error().code == Code::unsupported) GTEST_SKIP() << to_string(plan.error());
  ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
  EXPECT_EQ(plan->devices, options.parallel.devices);
  EXPECT_TRUE(plan->why.ends_with(", the devices being alike")) << plan->why;
  options.parallel.devices = {"vulkan:0", "vulkan:00"};
  const auto twice = plan_ranks(open_golden("llama"), options);
  ASSERT_FALSE(twice.has_value());
  EXPECT_EQ(twice.error().why, "it is the same device as 'vulkan:0'");
}

TEST(PlanRanks, AMeasuredRatioIsOneThatWorksAndIsTold) {
  if (!has_two_cores()) GTEST_SKIP() << "needs two cores";
  EngineOptions options = two_cores("llama");
  options.parallel.measure_ratio = true;
  const auto plan = plan_ranks(open_golden("llama"), options);
  ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
  ASSERT_EQ(plan->layout.ratio.size(), 2u);
  for (const double share : plan->layout.ratio) EXPECT_GT(share, 0);
  EXPECT_NE(plan->why.find("--ratio "), std::string::npos);
  EXPECT_NE(plan->why.find(" GB/s"), std::string::npos);
}

TEST(PlanRanks, WhatCannotBeIsSaidBeforeAnythingIsLoaded) {
  const gguf::File file = open_golden("llama");
  EngineOptions options = small_options();
  options.parallel.devices = {"cpu:0[0]", "cpu:0[0]"};
  EXPECT_EQ(plan_ranks(file, options).error().why, "it is named twice");
  options.parallel.devices = {"cpu:0"};
  options.parallel.num_shards = 2;
  EXPECT_EQ(plan_ranks(file, options).error().where, "--devices");
  if (!has_two_cores()) return;
  options = two_cores("llama");
  options.parallel.borders = {1000};
  EXPECT_NE(plan_ranks(file, options).error().why.find("no stage can begin at layer 1000"),
            std::string::npos);
  options.parallel.borders = {};
  options.memory_bytes_max = 1000;
  const auto tight = plan_ranks(file, options);
  ASSERT_FALSE(tight.has_value());
  EXPECT_EQ(tight.error().code, Code::out_of_memory);
  EXPECT_NE(tight.error().why.find("cpu:0[0] with 50 %"), std::string::npos) << tight.error().why;
}

TEST(MeasureSpeeds, GivesNumbersForEveryDevice) {
  const auto speeds = device::measure_speeds({"cpu:0[0]"}, 0);
  ASSERT_TRUE(speeds.has_value()) << to_string(speeds.error());
  EXPECT_GT(speeds->at(0).bytes_per_s, 0);
  EXPECT_GT(speeds->at(0).operations_per_s, 0);
  EXPECT_EQ(device::measure_speeds({"cpu:0[0]", "gpu:1"}, 0).error().code, Code::invalid_argument);
}

}  // namespace
}  // namespace evener::engine
