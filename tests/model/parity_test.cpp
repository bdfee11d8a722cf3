// Goal: a model in parts says what the whole one says: cut between layers to the bit, cut inside
// them up to the order of sums. Judges: tests/data/golden, and the model on one rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "gguf/file.h"
#include "model/golden_data.h"
#include "model/loader.h"
#include "model/parts_run.h"
#include "parallel/layout.h"

namespace evener::model {
namespace {

using golden::maximum;
using golden::median;
using golden::row_maxima;
using parallel::ExpertCut;
using parallel::Layout;
using test::PartsRun;

constexpr size_t kWholePrompt = 64;  // rows of a pass, more than any prompt here has

gguf::File open_golden(const std::string& model) {
  auto file = gguf::File::open(golden::model_file(model));
  EXPECT_TRUE(file.has_value()) << to_string(file.error());
  return std::move(*file);
}

PartsRun start(const gguf::File& file, const Layout& layout) {
  auto run = PartsRun::create(file, layout);
  EXPECT_TRUE(run.has_value()) << to_string(run.error());
  return std::move(*run);
}

std::string text_of(const Layout& layout) {
  std::string text = std::to_string(layout.grid().num_stages) + " stages, ratio";
  for (const double share : layout.ratio) text += " " + std::to_string(static_cast<int>(share));
  return text + (layout.experts == ExpertCut::whole ? ", whole experts" : "");
}

// Stages of one layer, and what remains.
std::vector<size_t> borders_for(size_t num_stages) {
  std::vector<size_t> borders;
  for (size_t stage = 1; stage < num_stages; ++stage) borders.push_back(stage);
  return borders;
}

std::vector<Layout> layouts_of_shards(const Config& config) {
  std::vector<Layout> layouts;
  for (const ExpertCut experts : {ExpertCut::inside, ExpertCut::whole}) {
    if (experts == ExpertCut::whole && config.mixture.num_experts < 4) continue;
    for (const std::vector<double>& ratio :
         {std::vector<double>{1, 1}, {3, 1}, {3, 2, 1}, {1, 1, 1, 1}})
      layouts.push_back({.ratio = ratio, .experts = experts});
  }
  return layouts;
}

class Parity : public testing::TestWithParam<std::string> {
 protected:
  const std::vector<int32_t> prompt_ = golden::prompt_of("models", GetParam());
  const NpyMatrix want_ = golden::expected(GetParam() + ".logits");
  const gguf::File file_ = open_golden(GetParam());
  const Config config_ = read_config(file_).value();
  const std::vector<float> whole_ = start(file_, {}).logits(prompt_, kWholePrompt);
};

TEST_P(Parity, ShardsAreThePeersAndCloserToOneRank) {
  float largest = 0;
  for (const Layout& layout : layouts_of_shards(config_)) {
    SCOPED_TRACE(text_of(layout));
    const auto got = start(file_, layout).logits(prompt_, kWholePrompt);
    ASSERT_EQ(got.size(), want_.values.size());
    EXPECT_LE(maximum(row_maxima(got, want_.values, want_.cols)), golden::tolerance(GetParam()));
    const float gap = maximum(row_maxima(got, whole_, want_.cols));
    EXPECT_LE(gap, 5e-5F);
    largest = std::max(largest, gap);
  }
  RecordProperty("max_abs_diff_to_one_rank", std::to_string(largest));
}

TEST_P(Parity, StagesGiveTheSameBits) {
  for (size_t num_stages = 2; num_stages <= std::min<size_t>(4, config_.num_layers); ++num_stages) {
    SCOPED_TRACE(std::to_string(num_stages) + " stages");
    PartsRun run = start(file_, {.borders = borders_for(num_stages)});
    for (const size_t chunk : {size_t{7}, kWholePrompt})
      EXPECT_EQ(run.logits(prompt_, chunk), whole_);
  }
}

TEST_P(Parity, StagesOfShardsGiveTheBitsOfShards) {
  const auto shards = start(file_, {.ratio = {1, 1}}).logits(prompt_, kWholePrompt);
  for (size_t num_stages = 2; num_stages <= std::min<size_t>(3, config_.num_layers); ++num_stages) {
    PartsRun run = start(file_, {.borders = borders_for(num_stages), .ratio = {1, 1}});
    EXPECT_EQ(run.logits(prompt_, 7), shards) << num_stages << " stages";
  }
}

TEST_P(Parity, ShardsGiveTheSameBitsForEveryChunkAndRun) {
  for (const Layout& layout : {Layout{.ratio = {3, 2, 1}}, Layout{.ratio = {1, 1, 1, 1}}}) {
    SCOPED_TRACE(text_of(layout));
    PartsRun run = start(file_, layout);
    const auto once = run.logits(prompt_, kWholePrompt);
    for (const size_t chunk : {size_t{7}, kWholePrompt})
      EXPECT_EQ(run.logits(prompt_, chunk), once) << "chunk " << chunk;
    const auto few = run.logits(std::span(prompt_).first(12), 1);
    EXPECT_TRUE(std::ranges::equal(few, std::span(once).first(few.size()))) << "chunk 1";
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Parity,
                         testing::Values("llama", "llama-bias", "llama-linear", "llama-yarn",
                                         "llama3-factors", "llama-f16", "llama-bf16", "qwen3",
                                         "qwen3-yarn", "qwen35", "qwen35-equal-heads", "llama-moe",
                                         "qwen3moe", "qwen35moe", "qwen35moe-fused", "qwen3next",
                                         "qwen3next-ssm-in"),
                         [](const auto& param) { return golden::test_name(param.param); });

// Every shard counts all choices, whichever experts it has.
TEST(PartsOfMixtures, CountTheChoicesOfAllExperts) {
  const gguf::File file = open_golden("qwen3moe");
  const auto prompt = golden::prompt_of("models", "qwen3moe");
  PartsRun one = start(file, {});
  one.logits(prompt, kWholePrompt);
  const auto wanted = one.expert_uses()[0];
  for (const ExpertCut experts : {ExpertCut::inside, ExpertCut::whole}) {
    PartsRun run = start(file, {.ratio = {2, 1, 1}, .experts = experts});
    run.logits(prompt, 7);
    for (const auto& uses : run.expert_uses()) EXPECT_EQ(uses, wanted);
  }
}

class QuantisedParity : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto file = golden::model_file(GetParam());
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "needs " << file;
  }

  const std::vector<int32_t> prompt_ = golden::prompt_of("quantised", GetParam());
  const NpyMatrix want_ = golden::expected(GetParam() + ".logits");
};

// Blocks of 32 weights: cuts fall between them, so that all there is to differ is the order of
// sums, and single activations that round the other way for it.
using ShardsOfSmallBlocks = QuantisedParity;
TEST_P(ShardsOfSmallBlocks, AreThePeersWithItsActivationRounding) {
  const gguf::File file = open_golden(GetParam());
  const float rounding = golden::stored_rounding(want_);
  for (const std::vector<double>& ratio : {std::vector<double>{1, 1}, {3, 2, 1}, {1, 1, 1, 1}}) {
    PartsRun run = start(file, {.ratio = ratio});
    const auto got = run.logits(prompt_, kWholePrompt);
    EXPECT_EQ(run.logits(prompt_, 7), got);
    const auto gaps =
        row_maxima(got, golden::nearest_stored_as(got, want_.values, rounding), want_.cols);
    EXPECT_LE(median(gaps), 1e-4F) << ratio.size() << " shards";
    EXPECT_LE(maximum(gaps), 0.3F) << ratio.size() << " shards";
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ShardsOfSmallBlocks,
                         testing::Values("llama256-Q4_0", "llama256-Q4_1", "llama256-Q5_0",
                                         "llama256-Q8_0", "llama256-IQ4_NL", "llama256-MXFP4",
                                         "qwen35moe256-MXFP4_MOE"),
                         [](const auto& param) { return golden::test_name(param.param); });

// One block of 256 weights a row: the matrices whose inputs are cut are decoded, and their inputs
// stay f32. That is off from the peer's rounding by no more than what decoding all matrices is, and
// the same wherever the cuts are, up to single roundings.
using ShardsOfLargeBlocks = QuantisedParity;
TEST_P(ShardsOfLargeBlocks, AreNoFurtherOffThanDecodedMatrices) {
  const gguf::File file = open_golden(GetParam());
  const NpyMatrix decoded = golden::expected(GetParam() + ".logits_decoded_f32");
  const float room = maximum(row_maxima(decoded.values, want_.values, want_.cols));
  const auto halves = start(file, {.ratio = {1, 1}}).logits(prompt_, kWholePrompt);
  EXPECT_LE(maximum(row_maxima(halves, want_.values, want_.cols)), room);
  for (const std::vector<double>& ratio : {std::vector<double>{3, 2, 1}, {1, 1, 1, 1}}) {
    PartsRun run = start(file, {.ratio = ratio});
    const auto got = run.logits(prompt_, kWholePrompt);
    EXPECT_EQ(run.logits(prompt_, 7), got);
    const auto gaps = row_maxima(got, halves, want_.cols);
    EXPECT_LE(median(gaps), 1e-4F) << ratio.size() << " shards";
    EXPECT_LE(maximum(gaps), 0.3F) << ratio.size() << " shards";
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ShardsOfLargeBlocks,
                         testing::Values("llama256-Q4_K", "llama256-Q6_K"),
                         [](const auto& param) { return golden::test_name(param.param); });

}  // namespace
}  // namespace evener::model
