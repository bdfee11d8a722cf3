// The stories that single invariants need, and the experiment that the project began with.
#include "simulate/scenarios.h"

#include <gtest/gtest.h>

namespace evener::simulate {
namespace {

using namespace std::chrono_literals;

TEST(Scenarios, KeepEveryInvariant) {
  for (const Scenario& scenario : kScenarios) {
    const Verdict verdict = scenario.run();
    EXPECT_FALSE(verdict.breach()) << scenario.name << ": " << to_string(*verdict.breach());
  }
}

TEST(Starvation, PromptsFirstFreezesTheAnswerOnce) {
  const Starvation starved = starve({.max_prefill_steps = 0});
  EXPECT_EQ(starved.num_long_gaps, 1U);
  EXPECT_GT(starved.gap_max, 45s);
  EXPECT_LT(starved.gap_max, 50s);
}

TEST(Starvation, OneStepMakesAGapOfEveryChunk) {
  const Starvation starved = starve({.max_prefill_steps = 1});
  EXPECT_EQ(starved.num_long_gaps, 12U);
  EXPECT_GT(starved.gap_max, 5s);
  EXPECT_LT(starved.gap_max, 5200ms);
}

TEST(Starvation, TheTargetIsKeptInTime) {
  const Starvation starved = starve({});
  EXPECT_EQ(starved.num_long_gaps, 0U);
  EXPECT_LE(starved.gap_max, 435ms) << "the target and a decode step";
  EXPECT_LE(starved.gap_max, starved.gap_bound);
}

}  // namespace
}  // namespace evener::simulate
