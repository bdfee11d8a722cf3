// A pool hands out every number once and aborts on double use.
#include "cache/pool.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace evener::cache {
namespace {

TEST(Pool, HandsOutTheLowestFirstAndThenWhatCameBackLast) {
  Pool pool(4);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 1);
  EXPECT_EQ(pool.num_taken(), 2U);
  EXPECT_EQ(pool.num_available(), 2U);
  pool.give_back(0);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 2);
}

// Method: random taking and giving back beside a plain set of what is out.
TEST(Pool, NeverHandsOutANumberTwice) {
  std::mt19937 random(7);
  Pool pool(37);
  std::set<int32_t> out;
  for (int round = 0; round < 20000; ++round) {
    while (pool.num_available() > 0 && random() % 4 != 0) {
      const int32_t place = pool.take();
      ASSERT_GE(place, 0);
      ASSERT_LT(place, 37);
      ASSERT_TRUE(out.insert(place).second);
    }
    while (!out.empty() && random() % 3 != 0) {
      const auto it = std::next(out.begin(), static_cast<std::ptrdiff_t>(random() % out.size()));
      pool.give_back(*it);
      out.erase(it);
    }
    ASSERT_EQ(pool.num_taken(), out.size());
    ASSERT_EQ(pool.num_available() + pool.num_taken(), pool.size());
  }
}

TEST(PoolDeathTest, MisuseAborts) {
  Pool pool(1);
  const int32_t place = pool.take();
  EXPECT_DEATH(pool.take(), "free_");
  pool.give_back(place);
  EXPECT_DEATH(pool.give_back(place), "taken_");
  EXPECT_DEATH(pool.give_back(1), "size");
}

}  // namespace
}  // namespace evener::cache
