// The table of --timing, whole.
#include "cli/timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evener::cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(TimingText, HasALineAKindThatWasCalledAndOneForTheRest) {
  engine::WorkReport report;
  report.times.add(Work::dense, 1500us);
  report.times.add(Work::dense, 500us);
  report.times.add(Work::idle, 0us);
  const std::string text = timing_text(report);
  EXPECT_THAT(text, StartsWith("                       time     share       calls\n"
                               "dense                2.0 ms     0.0 %           2\n"
                               "idle                 0.0 ms     0.0 %           1\n"
                               "all else            -2.0 ms"));
  EXPECT_THAT(text, HasSubstr("together"));
  EXPECT_THAT(text, Not(HasSubstr("recurrent")));
  EXPECT_THAT(text, Not(HasSubstr("layer")));
}

TEST(TimingText, HasATableForEachOfSeveralRanks) {
  engine::WorkReport report;
  const auto times = std::make_shared<WorkTimes>();
  times->add(Work::ranks, 2ms);
  report.ranks = {{.name = "rank 0 (cpu:0[0])", .times = times}};
  EXPECT_THAT(timing_text(report),
              StartsWith("\nrank 0 (cpu:0[0])\n"
                         "                       time     share       calls\n"
                         "ranks                2.0 ms     0.0 %           1\n"));
}

TEST(TimingText, SaysWhereTheRowsOfAMixtureWent) {
  engine::WorkReport report;
  report.times.stop();
  report.expert_uses = {{1, 1, 1, 1}, {6, 2, 0, 0}};
  EXPECT_THAT(
      timing_text(report),
      HasSubstr("\nlayer     choices     experts used    most used                entropy\n"
                "    0           4       4 of 4           25.0 %      2.00 of 2.00 bits\n"
                "    1           8       2 of 4           75.0 %      0.81 of 2.00 bits\n"));
}

}  // namespace
}  // namespace evener::cli
