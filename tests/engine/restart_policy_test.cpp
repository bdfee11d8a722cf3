#include "engine/restart_policy.h"

#include <gtest/gtest.h>

namespace evener::engine {
namespace {

using namespace std::chrono_literals;

TEST(RestartPolicy, WaitsLongerEachTimeAndThenSaysNo) {
  RestartPolicy policy(4);
  EXPECT_EQ(policy.next(0s), 100ms);
  EXPECT_EQ(policy.next(10s), 1s);
  EXPECT_EQ(policy.next(20s), 5s);
  EXPECT_EQ(policy.next(30s), 5s);
  EXPECT_EQ(policy.next(40s), std::nullopt);
}

TEST(RestartPolicy, ForgetsWhatIsAnHourAgo) {
  RestartPolicy policy(2);
  EXPECT_EQ(policy.next(0s), 100ms);
  EXPECT_EQ(policy.next(1800s), 1s);
  EXPECT_EQ(policy.next(3599s), std::nullopt);
  EXPECT_EQ(policy.next(3600s), 1s);
  EXPECT_EQ(policy.next(5399s), std::nullopt);
  EXPECT_EQ(policy.next(9000s), 100ms);
}

TEST(RestartPolicy, OfNoneAllowedAllowsNone) {
  RestartPolicy policy(0);
  EXPECT_EQ(policy.next(0s), std::nullopt);
}

}  // namespace
}  // namespace evener::engine
