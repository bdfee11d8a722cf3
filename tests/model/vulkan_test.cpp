// Goal: the golden models say on graphics processors what the peer says, on one device, on two that
// share a model, and beside a CPU. Method: few cases with short prompts, since Vulkan's driver may
// be software. Judge: tests/data/golden.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/tested_vulkan.h"
#include "engine/layout_plan.h"
#include "engine/logits_run.h"
#include "gguf/file.h"
#include "model/golden_data.h"

namespace evener {
namespace {

using engine::LogitsRun;
using engine::RankPlan;
using golden::maximum;
using golden::median;
using golden::row_maxima;

[[maybe_unused]] const bool kIsWatched = device::fail_at_complaints();

const RankPlan kOne{.layout = {}, .devices = {"vulkan:0"}, .why = {}};
const RankPlan kShards{
    .layout = {.ratio = {1, 1}}, .devices = {"vulkan:0", "vulkan:0#1"}, .why = {}};
const RankPlan kStages{
    .layout = {.borders = {1}}, .devices = {"vulkan:0", "vulkan:0#1"}, .why = {}};
const RankPlan kBesideCpu{.layout = {.borders = {1}}, .devices = {"vulkan:0", "cpu:0"}, .why = {}};

// Logits [tokens, vocab] with an F32 cache, as the golden data were made.
class GoldenRun {
 public:
  GoldenRun(const std::string& kind, const std::string& model, const RankPlan& plan,
            device::PeerUse peer = device::PeerUse::off)
      : prompt_(golden::prompt_of(kind, model)), run_(create(model, plan, prompt_.size(), peer)) {}

  std::vector<float> logits() { return logits_of({prompt_.size()}); }

  // The prompt in feeds of so many tokens, the last of which takes the rest.
  std::vector<float> logits_of(const std::vector<size_t>& feeds) {
    run_.restart();
    std::vector<float> all;
    std::span<const int32_t> rest = prompt_;
    for (size_t i = 0; i < feeds.size(); ++i) {
      const auto some = i + 1 < feeds.size() ? rest.first(feeds[i]) : rest;
      rest = rest.subspan(some.size());
      const auto status = run_.feed(some, [&all](size_t, std::span<const float> row) {
        all.insert(all.end(), row.begin(), row.end());
      });
      EXPECT_TRUE(status.has_value()) << to_string(status.error());
    }
    return all;
  }

 private:
  static LogitsRun create(const std::string& model, const RankPlan& plan, size_t num_tokens,
                          device::PeerUse peer) {
    auto file = gguf::File::open(golden::model_file(model));
    EXPECT_TRUE(file.has_value()) << to_string(file.error());
    auto run = LogitsRun::create(std::make_shared<const gguf::File>(*std::move(file)), plan,
                                 {.kv_type = device::KvType::f32,
                                  .num_tokens_max = num_tokens,
                                  .num_threads = 1,
                                  .peer = peer});
    EXPECT_TRUE(run.has_value()) << to_string(run.error());
    return std::move(run).value();
  }

  std::vector<int32_t> prompt_;
  LogitsRun run_;
};

void expect_the_peers(std::span<const float> got, const std::string& model) {
  const NpyMatrix want = golden::expected(model + ".logits");
  ASSERT_EQ(got.size(), want.values.size()) << model;
  EXPECT_LE(maximum(row_maxima(got, want.values, want.cols)), golden::tolerance(model)) << model;
}

class GoldenOnVulkan : public testing::Test {
 protected:
  void SetUp() override {
    if (device::tested_vulkan() == nullptr) GTEST_SKIP() << "needs Vulkan";
  }
};

TEST_F(GoldenOnVulkan, LogitsAreThePeersForEveryFamilyAndHaveTheSameBitsForAnyChunks) {
  for (const std::string model :
       {"llama", "llama-bias", "llama-linear", "llama-yarn", "llama3-factors", "llama-f16",
        "llama-bf16", "qwen3", "qwen3-yarn", "qwen35", "qwen35-equal-heads", "llama-moe",
        "qwen3moe", "qwen35moe", "qwen35moe-fused", "qwen3next", "qwen3next-ssm-in"}) {
    GoldenRun run("models", model, kOne);
    const std::vector<float> whole = run.logits();
    expect_the_peers(whole, model);
    EXPECT_EQ(run.logits_of({1, 1, 3, 9, 0}), whole) << model;
  }
}

// With the peer's rounding of activations: but for single ones that fall the other way.
TEST_F(GoldenOnVulkan, LogitsAreThePeersForEveryFormat) {
  for (const std::string model :
       {"llama256-Q4_0",       "llama256-Q4_1",       "llama256-Q5_0",  "llama256-Q8_0",
        "llama256-Q2_K",       "llama256-Q3_K",       "llama256-Q4_K",  "llama256-Q5_K",
        "llama256-Q6_K",       "llama256-IQ1_S",      "llama256-IQ1_M", "llama256-IQ2_XXS",
        "llama256-IQ2_XS",     "llama256-IQ2_S",      "llama256-IQ3_S", "llama256-IQ3_XXS",
        "llama256-IQ4_NL",     "llama256-IQ4_XS",     "llama256-MXFP4", "llama256-NVFP4",
        "qwen35moe256-Q4_K_M", "qwen35moe256-IQ3_XXS"}) {
    GoldenRun run("quantised", model, kOne);
    const std::vector<float> got = run.logits();
    const NpyMatrix want = golden::expected(model + ".logits");
    ASSERT_EQ(got.size(), want.values.size()) << model;
    const auto nearest = golden::nearest_stored_as(got, want.values, golden::stored_rounding(want));
    const auto gaps = row_maxima(got, nearest, want.cols);
    EXPECT_LE(median(gaps), 1e-4F) << model;
    EXPECT_LE(maximum(gaps), 0.3F) << model;
  }
}

TEST_F(GoldenOnVulkan, TwoShardsAreThePeers) {
  for (const std::string model : {"llama", "qwen35", "qwen3moe", "qwen3next"}) {
    GoldenRun run("models", model, kShards);
    const std::vector<float> whole = run.logits();
    expect_the_peers(whole, model);
    EXPECT_EQ(run.logits_of({1, 6, 0}), whole) << model;
  }
}

TEST_F(GoldenOnVulkan, TwoStagesHaveTheBitsOfOneDevice) {
  for (const std::string model : {"llama", "qwen35moe"}) {
    EXPECT_EQ(GoldenRun("models", model, kStages).logits(),
              GoldenRun("models", model, kOne).logits())
        << model;
  }
}

TEST_F(GoldenOnVulkan, TwoStagesPastTheHostHaveTheBitsOfOneDevice) {
  if (!device::tested_vulkan()->adapters()[0].shares_memory_by_fd) {
    GTEST_SKIP() << "needs VK_KHR_external_memory_fd";
  }
  testing::internal::CaptureStderr();
  GoldenRun run("models", "llama", kStages, device::PeerUse::always);
  const std::vector<float> whole = run.logits();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("vulkan:0 to vulkan:0#1: directly ("), std::string::npos) << log;
  EXPECT_EQ(whole, GoldenRun("models", "llama", kOne).logits());
  EXPECT_EQ(run.logits_of({1, 1, 3, 0}), whole);
}

TEST_F(GoldenOnVulkan, AStageOnTheCpuGoesOnWithWhatVulkanSays) {
  for (const std::string model : {"qwen3", "qwen35"}) {
    expect_the_peers(GoldenRun("models", model, kBesideCpu).logits(), model);
  }
}

}  // namespace
}  // namespace evener
