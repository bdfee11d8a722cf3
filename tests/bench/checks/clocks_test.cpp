#include <gtest/gtest.h>

#include "bench/checks.h"

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

// `wall` and `boot` more than the monotonic clock after 100 s.
std::optional<Finding> after(Nanoseconds wall, Nanoseconds boot) {
  const ClockReading before = {.monotonic = 5s, .wall = 1'700'000'000s, .boot = 9s};
  return check_clocks(before, {.monotonic = before.monotonic + 100s,
                               .wall = before.wall + 100s + wall,
                               .boot = before.boot + 100s + boot});
}

TEST(Clocks, TheWallClockMayBeSlewed) {
  EXPECT_EQ(after(100ms, 0s), std::nullopt);  // 50 ms, and 500 ppm of 100 s
  EXPECT_EQ(after(-100ms, 0s), std::nullopt);
}

TEST(Clocks, TheWallClockWasSet) {
  for (const Nanoseconds by : {101ms, -101ms}) {
    const auto found = after(by, 0s);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->fault, Fault::clock_jumped);
    EXPECT_EQ(found->severity, Severity::warning);
  }
  EXPECT_EQ(after(3600s, 0s)->detail, "the wall clock was set by +3600.000 s");
}

TEST(Clocks, TheMachineSlept) {
  EXPECT_EQ(after(50ms, 50ms), std::nullopt);
  const auto found = after(51ms, 51ms);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->severity, Severity::voids);
  EXPECT_EQ(after(3600s, 3600s)->detail, "the machine slept for 3600.0 s");
}

TEST(Clocks, AreReadInOneOrder) {
  const ClockReading first = read_clocks();
  const ClockReading second = read_clocks();
  EXPECT_GE(second.monotonic, first.monotonic);
  EXPECT_GE(second.boot, first.boot);
  EXPECT_GT(first.wall, Nanoseconds(0));
}

}  // namespace
}  // namespace evener::bench
