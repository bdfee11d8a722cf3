#include "bench/finding.h"

#include <gtest/gtest.h>

namespace evener::bench {
namespace {

TEST(Fault, EveryOneHasAWordOfItsOwnThatLeadsBackToIt) {
  for (unsigned i = 0; i <= unsigned(kLastFault); ++i) {
    EXPECT_FALSE(to_word(Fault(i)).empty()) << i;
    EXPECT_EQ(fault_of(to_word(Fault(i))), Fault(i)) << i;
  }
  EXPECT_EQ(fault_of("no such word"), std::nullopt);
}

}  // namespace
}  // namespace evener::bench
