// What an engine says its time went into: kinds, calls, experts. Counts are asserted, times are
// not.
#include "engine/work_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "engine/models.h"

namespace evener::engine {
namespace {

WorkReport report_of(const std::string& model, size_t prompt_size, size_t num_new) {
  EngineOptions options = small_options(model);
  options.timing = true;
  const auto engine = start(options);
  generate(*engine, greedy(std::vector<TokenId>(prompt_size, 9), num_new));
  return engine->stop().value();
}

TEST(WorkReport, IsThereForThoseWhoAsked) {
  const auto engine = start(small_options());
  generate(*engine, greedy({1, 2, 3}, 2));
  EXPECT_FALSE(engine->stop().has_value());
}

TEST(WorkReport, AfterItNothingIsAccepted) {
  const auto engine = start(small_options());
  engine->stop();
  Listener listener;
  const auto id = engine->submit(greedy({1}, 1), listener.sink());
  ASSERT_FALSE(id.has_value());
  EXPECT_EQ(id.error().code, Code::unavailable);
}

// Two steps: the prompt, then one token.
TEST(WorkReport, CountsTheCallsOfEachKind) {
  const WorkTimes times = report_of("llama", 5, 2).times;
  EXPECT_EQ(times.of(Work::embedding).calls, 2U) << "not those of warming up";
  EXPECT_EQ(times.of(Work::copies).calls, 0U) << "no logits are read for a greedy answer";
  EXPECT_EQ(times.of(Work::sampling).calls, 4U) << "each step's, by the device and by the loop";
  EXPECT_GT(times.of(Work::dense).calls, 2U);
  EXPECT_GT(times.of(Work::attention).calls, 2U);
  EXPECT_GT(times.of(Work::elementwise).calls, 2U);
  EXPECT_EQ(times.of(Work::experts).calls, 0U);
  EXPECT_EQ(times.of(Work::recurrent).calls, 0U);
  EXPECT_GE(times.unnamed(), WorkTimes::Clock::duration::zero());
}

TEST(WorkReport, CountsTheExpertsOfEveryRowButThoseOfWarmingUp) {
  const WorkReport report = report_of("qwen35moe", 5, 3);
  EXPECT_GT(report.times.of(Work::recurrent).calls, 0U);
  EXPECT_GT(report.times.of(Work::experts).calls, 0U);
  ASSERT_FALSE(report.expert_uses.empty());
  for (const auto& uses : report.expert_uses) {
    EXPECT_EQ(uses.size(), 6U);
    EXPECT_EQ(std::accumulate(uses.begin(), uses.end(), uint64_t{0}), (5 + 2) * 3U);
  }
}

TEST(ExpertSpread, OfEqualUseIsTheWholeEntropy) {
  const std::vector<uint64_t> uses(8, 5);
  const ExpertSpread spread = spread_of(uses);
  EXPECT_EQ(spread.num_choices, 40U);
  EXPECT_EQ(spread.num_used, 8U);
  EXPECT_DOUBLE_EQ(spread.top_share, 0.125);
  EXPECT_DOUBLE_EQ(spread.entropy_bits, 3);
}

TEST(ExpertSpread, OfOneExpertIsNone) {
  const std::vector<uint64_t> uses = {0, 7, 0, 0};
  const ExpertSpread spread = spread_of(uses);
  EXPECT_EQ(spread.num_used, 1U);
  EXPECT_DOUBLE_EQ(spread.top_share, 1);
  EXPECT_DOUBLE_EQ(spread.entropy_bits, 0);
}

TEST(ExpertSpread, OfNothingIsNothing) {
  const std::vector<uint64_t> uses(4);
  const ExpertSpread spread = spread_of(uses);
  EXPECT_EQ(spread.num_choices, 0U);
  EXPECT_EQ(spread.num_used, 0U);
  EXPECT_DOUBLE_EQ(spread.top_share, 0);
}

}  // namespace
}  // namespace evener::engine
