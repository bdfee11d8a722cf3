// Where snapshots of a prompt are to be taken.
#include "cache/snapshot_plan.h"

#include <gtest/gtest.h>

namespace evener::cache {

void PrintTo(const SnapshotPoint& point, std::ostream* out) {
  *out << point.position << (point.optional ? "?" : "");
}

namespace {

constexpr SnapshotRules kRules = {.page_size = 64, .interval = 1024, .num_message_ends = 2};

SnapshotPoint wanted(size_t position) { return {.position = position, .optional = false}; }
SnapshotPoint optional(size_t position) { return {.position = position, .optional = true}; }

using Points = std::vector<SnapshotPoint>;

TEST(SnapshotPlan, AShortPromptHasItsEndOnly) {
  EXPECT_EQ(snapshot_points({.num_tokens = 64}, kRules), Points());
  EXPECT_EQ(snapshot_points({.num_tokens = 65}, kRules), Points({wanted(64)}));
  EXPECT_EQ(snapshot_points({.num_tokens = 200}, kRules), Points({wanted(192)}));
  EXPECT_EQ(snapshot_points({.num_tokens = 192}, kRules), Points({wanted(128)}))
      << "a second reading computes the last token";
}

TEST(SnapshotPlan, NothingLiesWhereReadingHasBegunAlready) {
  EXPECT_EQ(snapshot_points({.num_tokens = 200, .first_position = 192}, kRules), Points());
  const size_t ends[] = {70, 140};
  EXPECT_EQ(
      snapshot_points({.num_tokens = 200, .first_position = 64, .message_ends = ends}, kRules),
      Points({wanted(128), wanted(192)}));
}

TEST(SnapshotPlan, OfManyMessagesTheFirstAndTheLastCount) {
  const size_t ends[] = {100, 200, 300, 400, 500};
  EXPECT_EQ(snapshot_points({.num_tokens = 520, .message_ends = ends}, kRules),
            Points({wanted(64), wanted(384), wanted(448), wanted(512)}));
}

TEST(SnapshotPlan, TheBranchingPointIsOne) {
  EXPECT_EQ(snapshot_points({.num_tokens = 520, .branch = 256}, kRules),
            Points({wanted(256), wanted(512)}));
}

TEST(SnapshotPlan, OnTheWayTheyLieTwiceAsFarApartEachTime) {
  EXPECT_EQ(
      snapshot_points({.num_tokens = 16001}, kRules),
      Points({optional(640), optional(8832), optional(12928), optional(14976), wanted(16000)}));
}

TEST(SnapshotPlan, NoneOnTheWayIsNearAnother) {
  const size_t ends[] = {14900};
  EXPECT_EQ(snapshot_points({.num_tokens = 16001, .message_ends = ends}, kRules),
            Points({optional(640), optional(8832), optional(12928), wanted(14848), wanted(16000)}));
}

TEST(SnapshotPlan, ThereAreLogarithmicallyManyOfThem) {
  EXPECT_EQ(snapshot_points({.num_tokens = 1'000'001}, kRules).size(), 10U);
  SnapshotRules none = kRules;
  none.interval = 0;
  EXPECT_EQ(snapshot_points({.num_tokens = 1'000'001}, none).size(), 1U);
}

}  // namespace
}  // namespace evener::cache
