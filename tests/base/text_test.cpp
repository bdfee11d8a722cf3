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

}  // namespace
}  // namespace evener
