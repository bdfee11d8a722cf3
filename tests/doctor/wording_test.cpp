// Sizes as people check them: nothing is rounded.
#include "doctor/wording.h"

#include <gtest/gtest.h>

namespace evener::doctor {
namespace {

TEST(SizeText, IsExact) {
  EXPECT_EQ(size_text(0), "0 bytes");
  EXPECT_EQ(size_text(1023), "1023 bytes");
  EXPECT_EQ(size_text(25753026560), "24560 MiB");
  EXPECT_EQ(size_text(uint64_t{32} << 30), "32 GiB");
  EXPECT_EQ(size_text((uint64_t{96} << 30) + (2 << 20)), "98306 MiB");
  EXPECT_EQ(size_text(~uint64_t{0}), "18446744073709551615 bytes");
}

TEST(WindowText, ShowsTheRestThatASizeHides) {
  EXPECT_EQ(window_text((uint64_t{64} << 30) + (4 << 20)), "64 GiB + 4 MiB");
  EXPECT_EQ(window_text(770 << 20), "770 MiB");
}

}  // namespace
}  // namespace evener::doctor
