// The pools hand out every number once, honour reservations and abort on double use.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "cache/page_pool.h"
#include "cache/slot_pool.h"

namespace evener::cache {
namespace {

TEST(PagePool, ReservesAtMostWhatIsFree) {
  PagePool pool(4);
  EXPECT_TRUE(pool.reserve(3));
  EXPECT_FALSE(pool.reserve(2));
  EXPECT_TRUE(pool.reserve(1));
  EXPECT_EQ(pool.num_available(), 0U);
  pool.unreserve(4);
  EXPECT_EQ(pool.num_available(), 4U);
}

TEST(PagePool, ATakenPageIsNoLongerReservedButStillGone) {
  PagePool pool(4);
  ASSERT_TRUE(pool.reserve(3));
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 1);
  EXPECT_EQ(pool.num_reserved(), 1U);
  EXPECT_EQ(pool.num_taken(), 2U);
  EXPECT_EQ(pool.num_available(), 1U);
  pool.give_back(0);
  EXPECT_EQ(pool.num_available(), 2U);
}

// Method: random reserving, taking and giving back beside a plain set of what is out.
TEST(PagePool, NeverHandsOutAPageTwice) {
  std::mt19937 random(7);
  PagePool pool(37);
  std::set<int32_t> out;
  for (int round = 0; round < 20000; ++round) {
    if (pool.reserve(random() % 5)) {
    }
    while (pool.num_reserved() > 0 && random() % 4 != 0) {
      const int32_t page = pool.take();
      ASSERT_GE(page, 0);
      ASSERT_LT(page, 37);
      ASSERT_TRUE(out.insert(page).second);
    }
    while (!out.empty() && random() % 3 != 0) {
      const auto it = std::next(out.begin(), static_cast<std::ptrdiff_t>(random() % out.size()));
      pool.give_back(*it);
      out.erase(it);
    }
    ASSERT_EQ(pool.num_taken(), out.size());
    ASSERT_EQ(pool.num_available() + pool.num_reserved() + pool.num_taken(), 37U);
  }
}

TEST(PagePoolDeathTest, GivingAPageBackTwiceAborts) {
  PagePool pool(2);
  ASSERT_TRUE(pool.reserve(1));
  const int32_t page = pool.take();
  pool.give_back(page);
  EXPECT_DEATH(pool.give_back(page), "taken_");
  EXPECT_DEATH(pool.give_back(2), "taken_");
  EXPECT_DEATH(pool.take(), "num_reserved_");
}

TEST(SlotPool, HandsOutEverySlotOnce) {
  SlotPool pool(3);
  const std::set<int32_t> slots = {pool.take(), pool.take(), pool.take()};
  EXPECT_EQ(slots, (std::set<int32_t>{0, 1, 2}));
  EXPECT_EQ(pool.num_available(), 0U);
  pool.give_back(1);
  EXPECT_EQ(pool.take(), 1);
}

TEST(SlotPoolDeathTest, MisuseAborts) {
  SlotPool pool(1);
  const int32_t slot = pool.take();
  EXPECT_DEATH(pool.take(), "free_");
  pool.give_back(slot);
  EXPECT_DEATH(pool.give_back(slot), "taken_");
}

}  // namespace
}  // namespace evener::cache
