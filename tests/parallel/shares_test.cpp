// Goal: shares of work add up, leave nobody without, and follow the ratio as nearly as units allow.
#include "parallel/shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace evener::parallel {
namespace {

using Shares = std::vector<size_t>;
using Ratio = std::vector<double>;

Shares shares_of(size_t num_units, const Ratio& ratio) { return share_out(num_units, ratio); }

TEST(ShareOut, FollowsTheRatio) {
  EXPECT_EQ(shares_of(7, {1}), (Shares{7}));
  EXPECT_EQ(shares_of(8, {1, 1}), (Shares{4, 4}));
  EXPECT_EQ(shares_of(9, {5, 4}), (Shares{5, 4}));
  EXPECT_EQ(shares_of(12, {3, 2, 1}), (Shares{6, 4, 2}));
  EXPECT_EQ(shares_of(12, {0.3, 0.2, 0.1}), (Shares{6, 4, 2}));
}

TEST(ShareOut, GivesUnitsLeftOverToTheLargestRemaindersAndOfEqualOnesToTheFirst) {
  EXPECT_EQ(shares_of(10, {1, 1, 1}), (Shares{4, 3, 3}));
  EXPECT_EQ(shares_of(11, {1, 1, 1}), (Shares{4, 4, 3}));
  EXPECT_EQ(shares_of(10, {5, 4}), (Shares{6, 4}));        // 5.56, 4.44
  EXPECT_EQ(shares_of(10, {2, 5, 2}), (Shares{2, 6, 2}));  // 2.22, 5.56, 2.22
}

TEST(ShareOut, LeavesNobodyWithout) {
  EXPECT_EQ(shares_of(3, {100, 1, 1}), (Shares{1, 1, 1}));
  EXPECT_EQ(shares_of(10, {1000, 1, 1}), (Shares{8, 1, 1}));
  EXPECT_EQ(shares_of(4, {1, 1e-300, 1e300, 1}), (Shares{1, 1, 1, 1}));
}

TEST(ShareOut, AddsUpForEveryRatio) {
  std::mt19937 random(20261130);
  std::uniform_real_distribution<double> exponent(-3, 3);
  for (int round = 0; round < 2000; ++round) {
    Ratio ratio(1 + random() % 9);
    for (double& share : ratio) share = std::pow(10, exponent(random));
    const size_t num_units = ratio.size() + random() % 300;
    const Shares shares = share_out(num_units, ratio);
    ASSERT_EQ(shares.size(), ratio.size());
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), size_t{0}), num_units);
    EXPECT_GE(*std::ranges::min_element(shares), 1U);
    for (size_t a = 0; a < ratio.size(); ++a) {
      for (size_t b = 0; b < ratio.size(); ++b)
        EXPECT_TRUE(ratio[a] <= ratio[b] || shares[a] >= shares[b]);
    }
  }
}

TEST(Imbalance, IsOneWhereSharesAreTheRatio) {
  EXPECT_DOUBLE_EQ(imbalance(Shares{6, 4, 2}, Ratio{3, 2, 1}), 1);
  EXPECT_DOUBLE_EQ(imbalance(Shares{2, 1}, Ratio{1, 1}), 4.0 / 3);
  EXPECT_DOUBLE_EQ(imbalance(Shares{1, 2}, Ratio{2, 1}), 2);
}

TEST(ShareGroups, GivesEachMemberUnitsOfOneGroup) {
  EXPECT_EQ(share_groups(1, 4, Ratio{1, 1}), (std::vector<GroupShare>{{0, 0, 2}, {0, 2, 2}}));
  EXPECT_EQ(share_groups(2, 2, Ratio{3, 2, 1}),
            (std::vector<GroupShare>{{0, 0, 2}, {1, 0, 1}, {1, 1, 1}}));
  EXPECT_EQ(share_groups(2, 8, Ratio{1, 1, 2}),
            (std::vector<GroupShare>{{0, 0, 4}, {0, 4, 4}, {1, 0, 8}}));
  EXPECT_EQ(share_groups(2, 8, Ratio{2, 1, 1}),
            (std::vector<GroupShare>{{0, 0, 8}, {1, 0, 4}, {1, 4, 4}}));
  EXPECT_EQ(share_groups(2, 2, Ratio{1, 1, 1, 1}),
            (std::vector<GroupShare>{{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}}));
}

TEST(ShareGroups, CoversAllUnitsOnce) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const size_t num_groups = 1 + random() % 4;
    const size_t num_units = 1 + random() % 6;
    Ratio ratio(num_groups + random() % (num_groups * num_units - num_groups + 1));
    for (double& share : ratio) share = static_cast<double>(1 + random() % 5);
    std::vector<int> covered(num_groups * num_units);
    size_t last_group = 0;
    for (const GroupShare& share : share_groups(num_groups, num_units, ratio)) {
      EXPECT_GE(share.group, last_group);
      EXPECT_GE(share.num_units, 1U);
      last_group = share.group;
      for (size_t i = 0; i < share.num_units; ++i)
        ++covered[share.group * num_units + share.first_unit + i];
    }
    EXPECT_EQ(covered, std::vector<int>(covered.size(), 1));
  }
}

}  // namespace
}  // namespace evener::parallel
