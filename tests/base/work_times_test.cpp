// The sums of --timing: what was added comes out, and nothing is lost between the kinds. No test
// here depends on how long anything takes.
#include "base/work_times.h"

#include <gtest/gtest.h>

namespace evener {
namespace {

using namespace std::chrono_literals;

TEST(WorkTimes, SumsUpByKind) {
  WorkTimes times;
  times.add(Work::dense, 3ms);
  times.add(Work::dense, 4ms);
  times.add(Work::idle, 1s);
  EXPECT_EQ(times.of(Work::dense).calls, 2U);
  EXPECT_EQ(times.of(Work::dense).time, 7ms);
  EXPECT_EQ(times.of(Work::idle).calls, 1U);
  EXPECT_EQ(times.of(Work::experts).calls, 0U);
  EXPECT_EQ(times.of(Work::experts).time, 0ms);
}

TEST(WorkTimes, TheKindsAndTheRestAreTheWhole) {
  WorkTimes times;
  {
    const WorkTimer timer(&times, Work::attention);
  }
  {
    const WorkTimer timer(&times, Work::sampling);
  }
  times.stop();
  EXPECT_EQ(times.of(Work::attention).calls, 1U);
  EXPECT_EQ(times.of(Work::sampling).calls, 1U);
  EXPECT_GE(times.unnamed(), 0ms);
  EXPECT_EQ(times.of(Work::attention).time + times.of(Work::sampling).time + times.unnamed(),
            times.elapsed());
}

TEST(WorkTimes, OfATimerThatRunsAcrossARestartOnlyTheRestCounts) {
  WorkTimes times;
  {
    const WorkTimer timer(&times, Work::idle);
    times.restart();
  }
  times.stop();
  EXPECT_EQ(times.of(Work::idle).calls, 1U);
  EXPECT_GE(times.unnamed(), 0ms);
}

TEST(WorkTimes, ARestartForgets) {
  WorkTimes times;
  times.add(Work::copies, 1h);
  times.restart();
  times.stop();
  EXPECT_EQ(times.of(Work::copies).calls, 0U);
  EXPECT_EQ(times.unnamed(), times.elapsed());
}

}  // namespace
}  // namespace evener
