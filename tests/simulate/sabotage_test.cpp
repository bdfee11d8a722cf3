// A simulator that finds nothing proves nothing: each fault that is planted must break the
// invariant that is about it. Method: random runs with the fault until one fails, and no other
// invariant may fail first.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulate/shrink.h"
#include "simulate/simulation.h"

namespace evener::simulate {
namespace {

struct Case {
  std::string name;
  Sabotage sabotage = Sabotage::none;
  std::vector<Invariant> found_by;
};

class SabotageTest : public testing::TestWithParam<Case> {};

// The first random workload that the fault breaks.
Workload broken_workload(Sabotage sabotage) {
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    Workload workload = random_workload(seed);
    workload.sabotage = sabotage;
    if (sabotage == Sabotage::ignore_step_limit) workload.scheduler.max_prefill_steps = 1;
    if (sabotage == Sabotage::overtake_passes) workload.set_stages(2);
    if (simulate(workload).verdict.breach()) return workload;
  }
  return {};
}

TEST_P(SabotageTest, IsFound) {
  const Workload workload = broken_workload(GetParam().sabotage);
  ASSERT_FALSE(workload.requests.empty()) << "no run found it";
  const auto breach = simulate(workload).verdict.breach();
  EXPECT_TRUE(std::ranges::find(GetParam().found_by, breach->invariant) !=
              GetParam().found_by.end())
      << to_string(*breach);

  Workload honest = workload;
  honest.sabotage = Sabotage::none;
  EXPECT_FALSE(simulate(honest).verdict.breach()) << "without the fault nothing is wrong";
}

INSTANTIATE_TEST_SUITE_P(
    Faults, SabotageTest,
    testing::Values(Case{"SkippedStateCopies", Sabotage::skip_state_copies, {Invariant::S7}},
                    Case{"SkippedStateClears", Sabotage::skip_state_clears, {Invariant::S7}},
                    Case{"SkippedPageLoads", Sabotage::skip_page_loads, {Invariant::S7}},
                    Case{"SkippedStateLoads", Sabotage::skip_state_loads, {Invariant::S7}},
                    Case{"HiddenSalts", Sabotage::hide_salts, {Invariant::S7, Invariant::S8}},
                    Case{"CancelledSequencesRunOn",
                         Sabotage::run_on_after_cancels,
                         {Invariant::E4, Invariant::S4}},
                    Case{"DebtsIgnored", Sabotage::ignore_debts, {Invariant::L9}},
                    Case{"TargetIgnored", Sabotage::ignore_target, {Invariant::L2}},
                    Case{"DeadlineIgnored", Sabotage::ignore_deadline, {Invariant::L3}},
                    Case{"StepLimitIgnored", Sabotage::ignore_step_limit, {Invariant::L2}},
                    Case{"OnePlaceMore", Sabotage::one_place_more, {Invariant::S4}},
                    Case{"TransfersOvertakePasses", Sabotage::overtake_passes, {Invariant::S7}}),
    [](const testing::TestParamInfo<Case>& param_info) { return param_info.param.name; });

TEST(Shrink, LeavesTwoStagesWhereOneIsNotEnough) {
  Workload failing = broken_workload(Sabotage::overtake_passes);
  failing.set_stages(4);
  ASSERT_TRUE(simulate(failing).verdict.breach());
  const Workload small = shrink(failing, Invariant::S7);
  EXPECT_EQ(small.stages.size(), 2U);
  EXPECT_EQ(small.scheduler.depth, 2U);
}

TEST(Shrink, LeavesWhatTheFaultNeeds) {
  const Workload failing = broken_workload(Sabotage::skip_state_copies);
  const Workload small = shrink(failing, Invariant::S7);
  const auto breach = simulate(small).verdict.breach();
  ASSERT_TRUE(breach);
  EXPECT_EQ(breach->invariant, Invariant::S7);
  EXPECT_LE(small.requests.size(), 2U) << "one that leaves a snapshot, one that takes it";
  EXPECT_LT(small.requests.size(), failing.requests.size());
}

}  // namespace
}  // namespace evener::simulate
