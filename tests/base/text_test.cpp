#include "base/text.h"

#include <gtest/gtest.h>

#include <string>

namespace evener {
namespace {

using namespace std::string_literals;

TEST(Printable, WritesOutWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\nb\tc\x1b[2J\x7f"), "a\\nb\\tc\\x1b[2J\\x7f");
  EXPECT_EQ(printable("nul \0 byte"s), "nul \\x00 byte");
  EXPECT_EQ(printable("csi \xc2\x9b 2J, nel \xc2\x85"), "csi \\xc2\\x9b 2J, nel \\xc2\\x85");
}

TEST(Printable, KeepsCharactersAndWritesOutStrayBytes) {
  EXPECT_EQ(printable("\u00e4\u4e2d\U0001f600\u00a0"), "\u00e4\u4e2d\U0001f600\u00a0");
  EXPECT_EQ(printable("\x9b \xff \xe4\xb8"), "\\x9b \\xff \\xe4\\xb8");
}

TEST(Printable, CutsBetweenTwoCharacters) {
  EXPECT_EQ(printable("abcd", 4), "abcd");
  EXPECT_EQ(printable("abcde", 4), "abcd...");
  EXPECT_EQ(printable("a\u4e2d\u4e2d", 4), "a\u4e2d...");
  EXPECT_EQ(printable("a\u4e2d\u4e2d", 6), "a\u4e2d...");
  EXPECT_EQ(printable("a\u4e2d\u4e2d", 7), "a\u4e2d\u4e2d");
}

TEST(NumberText, NumbersReadAsPeopleSayThem) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1.00 K");
  EXPECT_EQ(count_text(15'040'000), "15.0 M");
  EXPECT_EQ(count_text(27'056'000'000), "27.1 B");
  EXPECT_EQ(count_text(124'700'000'000), "125 B");
  EXPECT_EQ(count_text(9'996'000), "10.0 M");
  EXPECT_EQ(count_text(999'600), "1.00 M");
  EXPECT_EQ(count_text(1'040'000'000'000), "1.04 T");
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1024), "1.00 KiB");
  EXPECT_EQ(bytes_text(12'347'936), "11.8 MiB");
  EXPECT_EQ(bytes_text(uint64_t{27} << 30), "27.0 GiB");
  EXPECT_EQ(grouped_text(0), "0");
  EXPECT_EQ(grouped_text(999), "999");
  EXPECT_EQ(grouped_text(1'000), "1,000");
  EXPECT_EQ(grouped_text(1'234'567), "1,234,567");
}

}  // namespace
}  // namespace evener
