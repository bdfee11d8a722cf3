// Goal: halves convert exactly, for every one of the 65536 patterns and around every rounding edge.
#include "tensor/float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace evener {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// By definition, in double.
double half_value(uint32_t half) {
  const int exponent = int(half >> 10 & 0x1f);
  const double fraction = double(half & 0x3ff);
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

bool is_finite(uint32_t half) { return (half & 0x7c00) != 0x7c00; }

TEST(F16, EveryFinitePatternHasItsValueAndComesBack) {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    if (!is_finite(half)) continue;
    const float value = f16_to_f32(uint16_t(half));
    ASSERT_EQ(double(value), half_value(half)) << half;
    ASSERT_EQ(std::signbit(value), (half & 0x8000) != 0) << half;
    ASSERT_EQ(f32_to_f16(value), half);
  }
}

TEST(F16, InfinitiesAndNansStayWhatTheyAre) {
  EXPECT_EQ(f16_to_f32(0x7c00), kInfinity);
  EXPECT_EQ(f16_to_f32(0xfc00), -kInfinity);
  EXPECT_EQ(f32_to_f16(kInfinity), 0x7c00);
  EXPECT_EQ(f32_to_f16(-kInfinity), 0xfc00);
  EXPECT_TRUE(std::isnan(f16_to_f32(0x7c01)));
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(std::nanf("")))));
}

TEST(F16, BetweenTwoHalvesTheNearestIsTakenAndTiesGoToEven) {
  for (uint32_t half = 0; half < 0x7bff; ++half) {
    const auto middle = float((half_value(half) + half_value(half + 1)) / 2);  // exact in f32
    const uint32_t even = half + (half & 1);
    ASSERT_EQ(f32_to_f16(middle), even) << half;
    ASSERT_EQ(f32_to_f16(std::nextafterf(middle, 0)), half);
    ASSERT_EQ(f32_to_f16(std::nextafterf(middle, kInfinity)), half + 1);
    ASSERT_EQ(f32_to_f16(-middle), even | 0x8000);
  }
}

TEST(F16, WhatIsTooLargeBecomesInfinite) {
  EXPECT_EQ(f32_to_f16(65519.996f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(3e38f), 0x7c00);
}

TEST(Bf16, IsTheUpperHalf) {
  EXPECT_EQ(bf16_to_f32(0x3fc0), 1.5f);
  EXPECT_EQ(bf16_to_f32(0xff80), -kInfinity);
}

TEST(Bf16, EveryPatternComesBack) {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const float value = bf16_to_f32(uint16_t(half));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(value)))) << half;
    } else {
      EXPECT_EQ(f32_to_bf16(value), half);
    }
  }
}

TEST(Bf16, TheNearestIsTakenAndTiesGoToEven) {
  EXPECT_EQ(f32_to_bf16(0x1.01p0f), 0x3f80);        // half way between 1 and the next
  EXPECT_EQ(f32_to_bf16(0x1.010002p0f), 0x3f81);    // a little above
  EXPECT_EQ(f32_to_bf16(-0x1.03p0f), 0xbf82);       // half way, and the lower one is odd
  EXPECT_EQ(f32_to_bf16(0x1.fffffep127f), 0x7f80);  // too large
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
}  // namespace evener
