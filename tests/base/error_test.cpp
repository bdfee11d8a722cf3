#include "base/error.h"

#include <gtest/gtest.h>

namespace evener {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0)
    return Error{.code = Code::invalid_argument,
                 .doing = "halve",
                 .where = "5",
                 .why = "is odd",
                 .remedy = "double it"};
  return value / 2;
}

Result<int> quarter(int value) {
  ASSIGN_OR_RETURN(const int once, half(value));
  return half(once);
}

Status check(int value) {
  RETURN_IF_ERROR(half(value));
  return {};
}

TEST(Error, PrintsOneShape) {
  EXPECT_EQ(to_string(half(5).error()), "cannot halve: 5: is odd\n  double it");
  EXPECT_EQ(
      to_string(Error{.code = Code::internal, .doing = "", .where = "", .why = "x", .remedy = ""}),
      "cannot go on: x");
}

TEST(Result, MacrosPassValuesAndErrorsOn) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error().code, Code::invalid_argument);
  EXPECT_TRUE(check(4).has_value());
  EXPECT_FALSE(check(3).has_value());
}

}  // namespace
}  // namespace evener
