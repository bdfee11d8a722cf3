#include "host/plain_text.h"

#include <gtest/gtest.h>

namespace evener::host {
namespace {

using namespace std::string_literals;

TEST(PlainText, EndsLinesOneWay) {
  EXPECT_EQ(plain_text("a\r\nb\n\r\nc"), "a\nb\n\nc");
  EXPECT_EQ(plain_text("old\rmac"), "old?mac");
}

TEST(PlainText, KeepsCharactersAndMarksWhatIsNone) {
  EXPECT_EQ(plain_text("gr\u00fc\u00dfe\tA\n"), "gr\u00fc\u00dfe\tA\n");
  EXPECT_EQ(plain_text("a\xff\xe4\xb8z\0y\x07"s), "a???z?y?");
}

TEST(PlainText, TakesOutATerminalsColours) {
  EXPECT_EQ(plain_text("\x1b[32m[    0.1]\x1b[0m pci \x1b[1;31mfailed\x1b[m"),
            "[    0.1] pci failed");
  EXPECT_EQ(plain_text("\x1b[31"), "?[31");
}

TEST(PlainText, ReadsWhatSomeShellsWriteIntoFiles) {
  EXPECT_EQ(plain_text("\xff\xfep\0c\0i\0\r\0\n\0"s), "pci\n");
  EXPECT_EQ(plain_text("\xfe\xff\0p\0c\0i"s), "pci");
  EXPECT_EQ(plain_text("\xff\xfe\x3d\xd8\x00\xde"s), "\U0001f600");
  EXPECT_EQ(plain_text("\xff\xfe\x3d\xd8p"s), "?");
  EXPECT_EQ(plain_text("\xef\xbb\xbfpci"), "pci");
}

}  // namespace
}  // namespace evener::host
