// Logits of the golden models against what the peer computed from the same files, within the
// tolerances that the golden data's own README states. Judge: tests/data/golden.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "device/cpu/cpu_device.h"
#include "engine/logits_run.h"
#include "gguf/file.h"
#include "tensor/float16.h"
#include "tensor/npy.h"

namespace evener {
namespace {

using std::filesystem::path;

const path kData = EVENER_TEST_DATA;

// The largest files stay in the shared folder, which not everybody has.
path model_file(const std::string& model) {
  const path ours = kData / "models" / (model + ".gguf");
  if (std::filesystem::exists(ours)) return ours;
  return path(EVENER_SHARED) / "golden/quantised" / (model + ".gguf");
}

const nlohmann::json& manifest() {
  static const nlohmann::json parsed =
      nlohmann::json::parse(std::ifstream(kData / "golden/manifest.json"));
  return parsed;
}

NpyMatrix expected(const std::string& name) {
  auto matrix = read_npy(kData / "golden" / (name + ".npy"));
  EXPECT_TRUE(matrix.has_value()) << to_string(matrix.error());
  return std::move(*matrix);
}

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

std::vector<float> row_maxima(std::span<const float> a, std::span<const float> b, size_t cols) {
  std::vector<float> maxima(a.size() / cols, 0);
  for (size_t i = 0; i < a.size(); ++i) {
    const float gap = std::abs(a[i] - b[i]);
    maxima[i / cols] = std::isfinite(gap) ? std::max(maxima[i / cols], gap) : INFINITY;
  }
  return maxima;
}

float maximum(const std::vector<float>& values) { return *std::ranges::max_element(values); }

float median(std::vector<float> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

// F32 weights: 1e-4 is the bound the golden data call safe. F16 and BF16: the peer rounds the
// inputs of matrices to the weight's type, we keep them in f32, which is off by 2e-2 and 1e-1.
float tolerance(const std::string& model) {
  if (model.ends_with("bf16")) return 1.5e-1F;
  return model.ends_with("f16") ? 3e-2F : 1e-4F;
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
                         [](const auto& param) {
                           std::string name = param.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

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
    const path file = model_file(GetParam());
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "needs " << file;
  }
};

// Half a unit of the last place that the golden data keep, relative to the value: most were stored
// in half precision.
float stored_rounding(const NpyMatrix& want) {
  const bool halves = std::ranges::all_of(
      want.values, [](float value) { return f16_to_f32(f32_to_f16(value)) == value; });
  return halves ? 0x1p-11F : 0.0F;
}

// What is closest to `got` of all that would have been stored as `want`.
std::vector<float> nearest_stored_as(std::span<const float> got, std::span<const float> want,
                                     float rounding) {
  std::vector<float> nearest(got.begin(), got.end());
  for (size_t i = 0; i < got.size(); ++i) {
    const float room = std::abs(want[i]) * rounding;
    nearest[i] = std::clamp(got[i], want[i] - room, want[i] + room);
  }
  return nearest;
}

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
                         [](const auto& param) {
                           std::string name = param.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace evener
