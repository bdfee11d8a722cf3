// Lines of text: where they break, their colours, and that no text can move the cursor.
#include "doctor/text_page.h"

#include <gtest/gtest.h>

#include <array>

namespace evener::doctor {
namespace {

TEST(TextPage, BreaksAtSpacesAndGoesOnUnderTheText) {
  TextPage page({.width = 20});
  page.item("  ", "one two three four five six");
  EXPECT_EQ(page.take(), "  - one two three\n    four five six\n");
}

TEST(TextPage, DoesNotBreakWhatIsPiped) {
  TextPage page({.width = 0});
  const std::string longer(300, 'x');
  page.paragraph("", "one " + longer + " two");
  EXPECT_EQ(page.take(), "one " + longer + " two\n");
}

TEST(TextPage, LetsAWordStickOutThatNoLineHolds) {
  TextPage page({.width = 10});
  page.paragraph("", "a 0123456789abc b");
  EXPECT_EQ(page.take(), "a\n0123456789abc\nb\n");
}

TEST(TextPage, CountsCharactersAndNotBytes) {
  TextPage page({.width = 7});
  page.paragraph("", "ééé ééé é");
  EXPECT_EQ(page.take(), "ééé ééé\né\n");
}

TEST(TextPage, KeepsAWordTogetherThatChangesItsColour) {
  const std::array spans = {Span{.text = "see R40", .tone = Tone::bad}, Span{.text = ", then"}};
  TextPage coloured({.width = 8, .colour = true});
  coloured.paragraph("", "", spans);
  EXPECT_EQ(coloured.take(), "\x1b[1;31msee R40\x1b[0m,\nthen\n");
  TextPage plain({.width = 8});
  plain.paragraph("", "", spans);
  EXPECT_EQ(plain.take(), "see R40,\nthen\n");
}

TEST(TextPage, ShowsControlCharactersAndBrokenBytesInsteadOfSendingThem) {
  TextPage page({.colour = true});
  page.paragraph("", "red \x1b[31m\xff\nend");
  page.verbatim("", "col\tumn \x1b[31m");
  EXPECT_EQ(page.take(), "red \\x1b[31m\\xff\\nend\ncol\tumn \\x1b[31m\n");
}

TEST(TextPage, LeavesCommandsInOneLine) {
  TextPage page({.width = 10});
  page.verbatim("  ", "setpci -s 00:02.0 ECAP_ACS+6.w");
  EXPECT_EQ(page.take(), "  setpci -s 00:02.0 ECAP_ACS+6.w\n");
}

}  // namespace
}  // namespace evener::doctor
