// The small rules that the scheduler is made of, each by itself.
#include <gtest/gtest.h>

#include "sched/client_shares.h"
#include "sched/decode_debt.h"
#include "sched/growth_estimate.h"
#include "sched/prefill_streak.h"

namespace evener::sched {
namespace {

using namespace std::chrono_literals;

TEST(DecodeDebt, IsPaidByAsMuchTimeAsTheShareSays) {
  DecodeDebt half(0.5, 10s);
  half.prompt_ran(400ms);
  EXPECT_EQ(half.owed(), 400ms);
  half.decode_ran(300ms);
  EXPECT_TRUE(half.is_owed());
  half.decode_ran(100ms);
  EXPECT_FALSE(half.is_owed());

  DecodeDebt fifth(0.2, 10s);
  fifth.prompt_ran(400ms);
  EXPECT_EQ(fifth.owed(), 100ms);
}

TEST(DecodeDebt, PayingTooMuchEarnsNothing) {
  DecodeDebt debt(0.5, 10s);
  debt.decode_ran(5s);
  debt.prompt_ran(100ms);
  EXPECT_EQ(debt.owed(), 100ms);
}

TEST(DecodeDebt, AShareOfNothingOwesNothing) {
  DecodeDebt debt(0, 10s);
  debt.prompt_ran(5s);
  EXPECT_FALSE(debt.is_owed());
}

TEST(DecodeDebt, AStepAsLongAsAnHourOwesNoMoreThanTheLimit) {
  DecodeDebt debt(0.9, 5s);
  debt.prompt_ran(1h);
  EXPECT_EQ(debt.owed(), 5s);
  debt.forgive();
  EXPECT_FALSE(debt.is_owed());
}

TEST(PrefillStreak, ForcesADecodeAfterSoManyPromptSteps) {
  PrefillStreak streak(2);
  streak.prompt_issued();
  EXPECT_FALSE(streak.forces_decode());
  streak.prompt_issued();
  EXPECT_TRUE(streak.forces_decode());
  streak.decode_issued();
  EXPECT_FALSE(streak.forces_decode());
}

TEST(PrefillStreak, StaysAtItsLimitUntilADecodeRan) {
  PrefillStreak streak(2);
  for (int i = 0; i < 10; ++i) streak.prompt_issued();
  EXPECT_TRUE(streak.forces_decode());
  streak.decode_issued();
  streak.prompt_issued();
  EXPECT_FALSE(streak.forces_decode());
}

TEST(PrefillStreak, ZeroNeverForces) {
  PrefillStreak streak(0);
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(streak.forces_decode());
    streak.prompt_issued();
  }
}

TEST(GrowthEstimate, FallsWithExperienceAndRisesWhenThePoolRanDry) {
  GrowthEstimate growth;
  const size_t first = growth.tokens(1000);
  for (int i = 0; i < 100; ++i) growth.decode_ran();
  EXPECT_LT(growth.tokens(1000), first);
  for (int i = 0; i < 10'000; ++i) growth.decode_ran();
  EXPECT_EQ(growth.tokens(1000), 100U) << "a tenth is always set aside";
  growth.ran_dry(900, 1000, 2);
  EXPECT_NEAR(growth.share(), (900 + 2 * GrowthEstimate::kStepsAhead) / 1001.0, 1e-9);
  growth.ran_dry(0, 1000, 1);
  EXPECT_GT(growth.share(), 0.9) << "running dry never lowers it";
  growth.ran_dry(1000, 1000, 50);
  EXPECT_EQ(growth.share(), 1.0);
}

TEST(GrowthEstimate, CountsNoMoreThanAFewThousandTokensOfAnyAnswer) {
  const GrowthEstimate growth;
  EXPECT_EQ(growth.tokens(1'000'000), growth.tokens(4096));
  EXPECT_EQ(growth.tokens(0), 0U);
}

TEST(ClientShares, ANewcomerBeginsWhereTheLeastServedStands) {
  ClientShares shares;
  shares.enter(1);
  shares.enter(2);
  shares.charge(1, 10s);
  shares.charge(2, 4s);
  shares.enter(3);
  EXPECT_EQ(shares.served(3), 4s) << "it has not waited, so nothing is owed to it";
}

TEST(ClientShares, LeavingDoesNotWashADebtAway) {
  ClientShares shares;
  shares.enter(1);
  shares.enter(2);
  shares.charge(1, 10s);
  shares.leave(1);
  shares.enter(1);
  EXPECT_EQ(shares.served(1), 10s);
}

TEST(ClientShares, WhoHasGoneIsForgottenOnceOthersHaveCaughtUp) {
  ClientShares shares;
  shares.enter(1);
  shares.enter(2);
  shares.charge(1, 10s);
  shares.leave(1);
  EXPECT_EQ(shares.num_known(), 2U);
  shares.charge(2, 11s);
  shares.enter(3);
  EXPECT_EQ(shares.num_known(), 2U) << "2 and 3";
  shares.leave(2);
  shares.leave(3);
  EXPECT_EQ(shares.num_known(), 0U);
}

TEST(ClientShares, OnlyTheLastSequenceOfAClientTakesItAway) {
  ClientShares shares;
  shares.enter(1);
  shares.enter(1);
  shares.charge(1, 1s);
  shares.leave(1);
  EXPECT_EQ(shares.served(1), 1s);
}

}  // namespace
}  // namespace evener::sched
