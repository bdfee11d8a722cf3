// Logits of the golden models against what the peer computed from the same files, within the
// tolerances that the golden data's own README states. Judge: tests/data/golden.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "device/cpu/cpu_device.h"
#include "engine/logits_run.h"
#include "gguf/file.h"
#include "model/golden_data.h"

namespace evener {
namespace {

using namespace golden;

// Logits [tokens, vocab] with an F32 cache, as the golden data were made.
std::vector<float> logits_of(const std::string& model, const std::vector<int32_t>& tokens,
                             size_t chunk) {
  const auto file = gguf::File::open(model_file(model));
  EXPECT_TRUE(file.has_value()) << to_string(file.error());
  auto device = device::cpu::create_cpu_device({.numa_node = 0, .num_threads = 2, .isa = ""});
  EXPECT_TRUE(device.has_value()) << to_string(device.error());
  auto run = engine::LogitsRun::create(
      *file, **device,
      {.kv_type = device::KvType::f32, .chunk = chunk, .num_tokens_max = tokens.size()});
  EXPECT_TRUE(run.has_value()) << to_string(run.error());
  std::vector<float> all;
  const auto status = run->feed(tokens, [&all](size_t, std::span<const float> row) {
    all.insert(all.end(), row.begin(), row.end());
  });
  EXPECT_TRUE(status.has_value()) << to_string(status.error());
  return all;
}

class GoldenModel : public testing::TestWithParam<std::string> {};

TEST_P(GoldenModel, LogitsAreThePeersInOneBatch) {
  const auto prompt = manifest()["models"][GetParam()]["prompt"].get<std::vector<int32_t>>();
  const NpyMatrix want = expected(GetParam() + ".logits");
  const auto got = logits_of(GetParam(), prompt, 512);
  ASSERT_EQ(got.size(), want.values.size());
  const float gap = maximum(row_maxima(got, want.values, want.cols));
  RecordProperty("max_abs_diff", std::to_string(gap));
  EXPECT_LE(gap, tolerance(GetParam()));
}

TEST_P(GoldenModel, TheEndOfALongPromptIsThePeers) {
  const auto prompt = manifest()["models"][GetParam()]["long_prompt"].get<std::vector<int32_t>>();
  const NpyMatrix want = expected(GetParam() + ".long");
  const auto got = logits_of(GetParam(), prompt, 64);
  const auto tail = std::span(got).last(want.values.size());
  const float gap = maximum(row_maxima(tail, want.values, want.cols));
  RecordProperty("max_abs_diff", std::to_string(gap));
  EXPECT_LE(gap, tolerance(GetParam()));
}

// Batch invariance: not close, equal.
TEST_P(GoldenModel, ChunksOfAnySizeGiveTheSameBits) {
  const auto prompt = manifest()["models"][GetParam()]["long_prompt"].get<std::vector<int32_t>>();
  const auto whole = logits_of(GetParam(), prompt, 512);
  for (const size_t chunk : {1, 3, 17, 64, 200})
    EXPECT_EQ(logits_of(GetParam(), prompt, chunk), whole) << "chunk " << chunk;
}

INSTANTIATE_TEST_SUITE_P(Families, GoldenModel,
                         testing::Values("llama", "llama-bias", "llama-linear", "llama-yarn",
                                         "llama3-factors", "llama-f16", "llama-bf16", "qwen3",
                                         "qwen3-yarn", "qwen35", "qwen35-equal-heads", "llama-moe",
                                         "qwen3moe", "qwen35moe", "qwen35moe-fused", "qwen3next",
                                         "qwen3next-ssm-in"),
                         [](const auto& param) { return test_name(param.param); });

// Method: whatever is chosen, each row of each layer chooses K different experts.
TEST(GoldenMixture, CountsTheExpertsThatEachLayerUses) {
  const auto file = gguf::File::open(kData / "models/qwen35moe.gguf");
  ASSERT_TRUE(file.has_value()) << to_string(file.error());
  auto device = device::cpu::create_cpu_device({.numa_node = 0, .num_threads = 1, .isa = ""});
  ASSERT_TRUE(device.has_value()) << to_string(device.error());
  const auto tokens = manifest()["models"]["qwen35moe"]["prompt"].get<std::vector<int32_t>>();
  auto run = engine::LogitsRun::create(
      *file, **device,
      {.kv_type = device::KvType::f32, .chunk = 7, .num_tokens_max = tokens.size()});
  ASSERT_TRUE(run.has_value()) << to_string(run.error());
  ASSERT_TRUE(run->feed(tokens, [](size_t, std::span<const float>) {}).has_value());
  const auto all_uses = run->expert_uses();
  ASSERT_EQ(all_uses.size(), run->config().num_layers);
  for (const auto& uses : all_uses) {
    ASSERT_EQ(uses.size(), 6u);
    EXPECT_EQ(std::accumulate(uses.begin(), uses.end(), uint64_t{0}), tokens.size() * 3);
    EXPECT_LE(*std::ranges::max_element(uses), tokens.size());
  }
}

class GoldenQuantised : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::filesystem::path file = model_file(GetParam());
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "needs " << file;
  }
};

// We round activations to 8 bits exactly as the peer does, so the logits agree like those of float
// models, but for single roundings that fall the other way.
TEST_P(GoldenQuantised, LogitsAreThePeersWithItsActivationRounding) {
  const auto prompt = manifest()["quantised"][GetParam()]["prompt"].get<std::vector<int32_t>>();
  const NpyMatrix want = expected(GetParam() + ".logits");
  const auto got = logits_of(GetParam(), prompt, 512);
  ASSERT_EQ(got.size(), want.values.size());
  const auto gaps =
      row_maxima(got, nearest_stored_as(got, want.values, stored_rounding(want)), want.cols);
  RecordProperty("median_of_row_max", std::to_string(median(gaps)));
  EXPECT_LE(median(gaps), 1e-4F);
  EXPECT_LE(maximum(gaps), 0.3F);
}

TEST_P(GoldenQuantised, ChunksOfAnySizeGiveTheSameBits) {
  const auto prompt = manifest()["quantised"][GetParam()]["prompt"].get<std::vector<int32_t>>();
  const auto whole = logits_of(GetParam(), prompt, 512);
  for (const size_t chunk : {1, 3, 8, 17})
    EXPECT_EQ(logits_of(GetParam(), prompt, chunk), whole) << "chunk " << chunk;
}

INSTANTIATE_TEST_SUITE_P(Formats, GoldenQuantised,
                         testing::Values("llama256-Q4_0", "llama256-Q4_1", "llama256-Q5_0",
                                         "llama256-Q8_0", "llama256-Q2_K", "llama256-Q3_K",
                                         "llama256-Q4_K", "llama256-Q5_K", "llama256-Q6_K",
                                         "llama256-IQ1_S", "llama256-IQ1_M", "llama256-IQ2_XXS",
                                         "llama256-IQ2_XS", "llama256-IQ2_S", "llama256-IQ3_XXS",
                                         "llama256-IQ3_S", "llama256-IQ4_NL", "llama256-IQ4_XS",
                                         "llama256-MXFP4", "llama256-NVFP4", "qwen35moe256-Q4_K_M",
                                         "qwen35moe256-IQ3_XXS", "qwen35moe256-MXFP4_MOE"),
                         [](const auto& param) { return test_name(param.param); });

}  // namespace
}  // namespace evener
