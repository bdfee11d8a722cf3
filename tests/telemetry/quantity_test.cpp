#include "telemetry/quantity.h"

#include <gtest/gtest.h>

namespace evener::telemetry {
namespace {

TEST(Quantity, BecomesOurUnit) {
  EXPECT_EQ(quantity_of("68000000\n", kMicrowatts), std::nullopt) << "a line end is none of it";
  EXPECT_EQ(quantity_of(" 68000000 ", kMicrowatts), 68);
  EXPECT_EQ(quantity_of("-12500", kMillidegrees), -12.5);
  EXPECT_EQ(quantity_of("0", kPercent), 0);
  EXPECT_EQ(quantity_of("100", kPercent), 1);
}

TEST(Quantity, IsAbsentWhereTheTextIsNoPossibleNumber) {
  for (const char* text : {"", " ", "N/A", "[N/A]", "12 W", "0x10", "nan", "inf", "1e999", "101",
                           "-1", "65535", "18446744073709551615", "\x01\xff"}) {
    EXPECT_EQ(quantity_of(text, kPercent), std::nullopt) << text;
  }
}

TEST(LinkSpeed, IsTheNumberBeforeItsUnit) {
  EXPECT_EQ(gts_of("16.0 GT/s PCIe"), 16);
  EXPECT_EQ(gts_of("2.5 GT/s"), 2.5);
  EXPECT_EQ(gts_of("Unknown"), std::nullopt);
  EXPECT_EQ(gts_of("0 GT/s"), std::nullopt);
  EXPECT_EQ(gts_of(""), std::nullopt);
}

}  // namespace
}  // namespace evener::telemetry
