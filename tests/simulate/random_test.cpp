#include <gtest/gtest.h>

#include "simulate/simulation.h"

namespace evener::simulate {
namespace {

TEST(RandomRuns, KeepEveryInvariant) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const Workload workload = random_workload(seed);
    const Outcome outcome = simulate(workload);
    ASSERT_FALSE(outcome.verdict.breach()) << to_string(*outcome.verdict.breach()) << "\n"
                                           << to_string(workload);
  }
}

class Pipes : public testing::TestWithParam<size_t> {};

TEST_P(Pipes, KeepEveryInvariant) {
  for (unsigned seed = 1; seed <= 150; ++seed) {
    const Workload workload = random_workload(seed, GetParam());
    const Outcome outcome = simulate(workload);
    ASSERT_FALSE(outcome.verdict.breach()) << to_string(*outcome.verdict.breach()) << "\n"
                                           << to_string(workload);
  }
}

INSTANTIATE_TEST_SUITE_P(OfStages, Pipes, testing::Values(2, 3, 4));

}  // namespace
}  // namespace evener::simulate
