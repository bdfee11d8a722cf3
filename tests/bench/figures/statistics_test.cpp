#include "bench/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace evener::bench {
namespace {

std::vector<double> one_to(unsigned n) {
  std::vector<double> out(n);
  std::iota(out.begin(), out.end(), 1.0);
  return out;
}

// Places are ceil(p * n), counted by hand.
TEST(Percentile, IsTheNearestRankOfTheSortedSample) {
  const std::vector<double> five = {10, 20, 30, 40, 50};
  EXPECT_EQ(percentile(five, 0.05), 10);
  EXPECT_EQ(percentile(five, 0.20), 10);  // ceil(1.0)
  EXPECT_EQ(percentile(five, 0.21), 20);
  EXPECT_EQ(percentile(five, 0.50), 30);
  EXPECT_EQ(percentile(five, 0.90), 50);
  EXPECT_EQ(percentile(five, 1.00), 50);
  EXPECT_EQ(percentile(five, 0.00), 10);
  EXPECT_EQ(percentile(std::vector<double>{7}, 0.95), 7);
  // 0.95 and 0.07 have no exact binary form: their ranks must not slip by one.
  EXPECT_EQ(percentile(one_to(100), 0.95), 95);
  EXPECT_EQ(percentile(one_to(100), 0.07), 7);
  EXPECT_EQ(percentile(one_to(1000), 0.99), 990);
}

TEST(Summarise, GivesTheFiguresOfAHandCalculatedSample) {
  const Summary s = summarise(std::vector<double>{4, 2, 8, 6});
  EXPECT_EQ(s.n, 4);
  EXPECT_EQ(s.mean, 5);
  EXPECT_NEAR(s.sd, std::sqrt(20.0 / 3), 1e-12);
  EXPECT_EQ(s.min, 2);
  EXPECT_EQ(s.p5, 2);
  EXPECT_EQ(s.p50, 4);  // ceil(2): the lower of the middle two
  EXPECT_EQ(s.p90, 8);
  EXPECT_EQ(s.p95, 8);
  EXPECT_EQ(s.p99, std::nullopt);
  EXPECT_EQ(s.max, 8);
}

TEST(Summarise, ShowsP99OnlyFromAHundredSamplesOn) {
  EXPECT_EQ(summarise(one_to(99)).p99, std::nullopt);
  EXPECT_EQ(summarise(one_to(100)).p99, 99);
}

TEST(Summarise, OfNothingAndOfOneHasNoSpread) {
  EXPECT_EQ(summarise({}), Summary());
  const Summary one = summarise(std::vector<double>{3});
  EXPECT_EQ(one.n, 1);
  EXPECT_EQ(one.sd, 0);
  EXPECT_EQ(one.p50, 3);
  EXPECT_EQ(one.ci95, std::nullopt);
  EXPECT_EQ(summarise(std::vector<double>{3, 4}).ci95, std::nullopt);
}

// Of three samples the resampled median is the smallest with probability 7/27, so both ends of the
// interval are the sample's. Of nine, P(median <= first) = P(Bin(9, 1/9) >= 5) = 0.1 % and
// P(median <= second) = P(Bin(9, 2/9) >= 5) = 3.0 %, so it begins at the second and, mirrored, ends
// at the eighth.
TEST(Summarise, BoundsTheMedianByItsExactBootstrapInterval) {
  EXPECT_EQ(summarise(one_to(3)).ci95, (Summary::Interval{1, 3}));
  EXPECT_EQ(summarise(one_to(9)).ci95, (Summary::Interval{2, 8}));
}

// Method: the same interval by really resampling.
TEST(Summarise, AgreesWithResampling) {
  std::mt19937_64 random(1);
  for (const unsigned n : {4u, 20u, 101u}) {
    std::vector<double> medians;
    for (int i = 0; i < 20'000; ++i) {
      std::vector<double> drawn(n);
      for (double& x : drawn) x = double(random() % n + 1);
      std::sort(drawn.begin(), drawn.end());
      medians.push_back(percentile(drawn, 0.5));
    }
    std::sort(medians.begin(), medians.end());
    const Summary s = summarise(one_to(n));
    ASSERT_TRUE(s.ci95) << n;
    EXPECT_NEAR(s.ci95->low, percentile(medians, 0.025), 1) << n;
    EXPECT_NEAR(s.ci95->high, percentile(medians, 0.975), 1) << n;
  }
}

TEST(Summarise, OfAMillionSamplesHasANarrowInterval) {
  const Summary s = summarise(one_to(1'000'000));
  ASSERT_TRUE(s.ci95);
  // 500,000 -+ 1.96 * 0.5 * sqrt(n)
  EXPECT_NEAR(s.ci95->low, 499'020, 5);
  EXPECT_NEAR(s.ci95->high, 500'980, 5);
}

using Rounds = std::vector<std::vector<double>>;

TEST(RatioOfMedians, IsExactWhereEverySampleIsTwiceItsPartner) {
  const Rounds a = {{10, 20, 30, 40}, {11, 21, 31, 41}};
  Rounds b = a;
  for (auto& round : b) {
    for (double& x : round) x *= 2;
  }
  const auto estimate = ratio_of_medians(a, b);
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->ratio, 2);
  EXPECT_EQ(estimate->interval, (Summary::Interval{2, 2}));  // only because samples are paired
  EXPECT_EQ(estimate->num_a, 8);
  EXPECT_EQ(estimate->num_b, 8);
}

TEST(RatioOfMedians, DrawsEachSideForItselfWhereSizesDiffer) {
  const Rounds a = {{10, 20, 30, 40}};
  const Rounds b = {{20, 40, 60, 80, 80}};
  const auto estimate = ratio_of_medians(a, b);
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->ratio, 3);  // 60 over 20
  EXPECT_LE(estimate->interval.low, 1);
  EXPECT_GE(estimate->interval.high, 4);
}

// Three rounds far apart: a bootstrap over requests alone would be sure of the middle one.
TEST(RatioOfMedians, LetsTheSpreadBetweenRoundsWidenTheInterval) {
  const Rounds a(3, std::vector<double>(50, 100.0));
  Rounds b = a;
  b[0].assign(50, 80);
  b[2].assign(50, 130);
  const auto estimate = ratio_of_medians(a, b);
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->ratio, 1);
  EXPECT_EQ(estimate->interval, (Summary::Interval{0.8, 1.3}));
}

TEST(RatioOfMedians, IsTheSameEachTime) {
  const Rounds a = {{3, 1, 4, 1, 5}, {9, 2, 6, 5, 3}};
  const Rounds b = {{2, 7, 1, 8, 2}, {8, 1, 8, 2, 8}, {4, 5, 9}};
  const auto first = ratio_of_medians(a, b);
  const auto second = ratio_of_medians(a, b);
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_EQ(first->interval, second->interval);
  EXPECT_LT(first->interval.low, first->interval.high);
}

TEST(RatioOfMedians, IsAbsentWhereItWouldMeanNothing) {
  const Rounds three = {{1}, {2}, {3}};
  EXPECT_TRUE(ratio_of_medians(three, three));
  EXPECT_FALSE(ratio_of_medians(Rounds{{1}, {2}}, three));
  EXPECT_FALSE(ratio_of_medians(three, {}));
  EXPECT_FALSE(ratio_of_medians(Rounds{{0, 0, 0}}, three));
  EXPECT_FALSE(ratio_of_medians(Rounds{{0, 1, 1}}, three)) << "a resample's median may be zero";
  EXPECT_FALSE(ratio_of_medians(Rounds{{1}, {}, {3}, {4}}, Rounds{{1}, {2}, {}, {4}}))
      << "rounds without a partner must not count";
}

// Under no difference, the interval should exclude 1 in about one of twenty cases.
// Method: 200 pairs of runs drawn from one distribution, 3 rounds of 12 requests.
TEST(RatioOfMedians, SeldomSeesADifferenceWhereThereIsNone) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> time(4, 0.3);
  const auto draw = [&] {
    Rounds rounds(3, std::vector<double>(12));
    for (auto& round : rounds) {
      for (double& x : round) x = time(random);
    }
    return rounds;
  };
  int num_false = 0;
  for (int i = 0; i < 200; ++i) {
    const auto estimate = ratio_of_medians(draw(), draw(), 1000);
    ASSERT_TRUE(estimate);
    if (estimate->interval.low > 1 || estimate->interval.high < 1) ++num_false;
  }
  EXPECT_LE(num_false, 20);
}

}  // namespace
}  // namespace evener::bench
