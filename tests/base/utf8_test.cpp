#include "base/utf8.h"

#include <gtest/gtest.h>

namespace evener::utf8 {
namespace {

TEST(Utf8, EveryCodePointSurvivesARoundTrip) {
  for (char32_t code_point = 0; code_point <= 0x10ffff; ++code_point) {
    if (code_point >= 0xd800 && code_point < 0xe000) continue;
    std::string text;
    append(text, code_point);
    const Decoded decoded = decode(text, 0);
    ASSERT_TRUE(decoded.valid) << static_cast<uint32_t>(code_point);
    ASSERT_EQ(decoded.code_point, code_point);
    ASSERT_EQ(decoded.num_bytes, text.size());
  }
}

TEST(Utf8, MalformedSequencesAreNotValid) {
  for (const char* bad :
       {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x80\x80\xaf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe4\xbd", "\xe4\xbd\x41"}) {
    EXPECT_FALSE(is_valid(bad)) << bad;
    EXPECT_EQ(decode(bad, 0).num_bytes, 1u);
  }
}

TEST(Utf8, InvalidBytesBecomeReplacementCharacters) {
  EXPECT_EQ(replace_invalid("a\xff"
                            "b\xe4\xbd"),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd\xef\xbf\xbd");
}

// What a stream may send at once: never half of a character, never withheld for ever.
TEST(Utf8, CompletePrefixHoldsBackOnlyWhatCanStillBecomeACharacter) {
  EXPECT_EQ(complete_prefix(""), 0u);
  EXPECT_EQ(complete_prefix("abc"), 3u);
  EXPECT_EQ(complete_prefix("a\xf0\x9f\x98"), 1u);
  EXPECT_EQ(complete_prefix("a\xf0\x9f\x98\x80"), 5u);
  EXPECT_EQ(complete_prefix("a\xe4"), 1u);
  EXPECT_EQ(complete_prefix("a\xff"), 2u);
  EXPECT_EQ(complete_prefix("a\xe0\x80"), 3u);  // overlong: will never be a character
}

}  // namespace
}  // namespace evener::utf8
