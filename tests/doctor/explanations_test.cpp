// --explain: every rule of the reference has a text, and every fix that a text names exists.
#include "doctor/explanations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "doctor/fixes.h"

namespace evener::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

// The ids of pci-p2p.md, section 7.2, in its order.
constexpr const char* kRules =
    "R01 R02 R03 R04 R10 R11 R12 R20 R21 R22 R30 R31 R32 R33 R34 R35 R36 R37 R38 R40 R41 "
    "R50 R51 R52 R53 R54 R55 R56 R57 R58 R59 R60 R61 R62 R63 R70 R71 R72 R73 R74 R75 R76 R77 "
    "R80 R81 R82 R83";

TEST(Explanations, AreThereForEveryRuleInTheOrderOfTheReference) {
  std::string rules;
  for (const auto& part : {explanations_of_facts(), explanations_of_routes()}) {
    for (const Explanation& each : part) {
      rules += (rules.empty() ? "" : " ") + std::string(each.rule);
      EXPECT_FALSE(each.title.empty() || each.when.empty() || each.why.empty()) << each.rule;
    }
  }
  EXPECT_EQ(rules, kRules);
}

TEST(Explanations, NameOnlyFixesThatExist) {
  for (const auto& part : {explanations_of_facts(), explanations_of_routes()}) {
    for (const Explanation& each : part) {
      std::istringstream fixes{std::string(each.fixes)};
      for (std::string id; fixes >> id;) EXPECT_NE(find_fix(id), nullptr) << each.rule << " " << id;
    }
  }
}

TEST(Explanations, TellWhatARuleAsksAndWhatCuresIt) {
  const auto text = explain("r40", {});
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("R40: one card's BAR lies above the addresses that the other can "
                               "form\n  when    The BAR ends beyond"));
  EXPECT_THAT(*text, HasSubstr("\n\nF05: "));
  EXPECT_THAT(*text, HasSubstr("\n\nF04: "));
  EXPECT_THAT(*text, Not(HasSubstr("hardware limit")));
}

TEST(Explanations, TellWhatAFixIs) {
  const auto text = explain("F24", {});
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("  risk    high\n"));
}

TEST(Explanations, AreRefusedForWhatDoesNotExist) {
  for (const char* id : {"R99", "", "R4", "R400000000", "\x1b"}) {
    const auto text = explain(id, {});
    ASSERT_FALSE(text) << id;
    EXPECT_EQ(text.error().code, Code::not_found);
    EXPECT_THAT(text.error().remedy, HasSubstr("R01 R02"));
    EXPECT_THAT(to_string(text.error()), Not(HasSubstr("\x1b")));
  }
}

}  // namespace
}  // namespace evener::doctor
