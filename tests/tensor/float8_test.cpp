// All 256 codes against the definition.
#include "tensor/float8.h"

#include <gtest/gtest.h>

#include <cmath>

namespace evener {
namespace {

TEST(Float8, E4m3IsItsDefinition) {
  for (int code = 0; code < 256; ++code) {
    const float value = f8_e4m3_to_f32(uint8_t(code));
    const int exponent = code >> 3 & 15;
    const double fraction = double(code & 7) / 8;
    EXPECT_EQ(std::signbit(value), code >= 128) << code;
    if ((code & 127) == 127) {
      EXPECT_TRUE(std::isnan(value)) << code;
      continue;
    }
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -6) : std::ldexp(1 + fraction, exponent - 7);
    EXPECT_EQ(double(std::abs(value)), magnitude) << code;
  }
  EXPECT_EQ(f8_e4m3_to_f32(0x7e), 448.0F);
  EXPECT_EQ(f8_e4m3_to_f32(0x01), 0x1p-9F);
}

}  // namespace
}  // namespace evener
