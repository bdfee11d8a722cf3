// Goal: patterns of tokenizer.json mean here what they mean there, or are refused; none can do more
// than match.
#include "tokenizer/foreign_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tokenizer/splitter.h"

namespace evener::tokenizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string translated(std::string_view pattern) {
  const auto result = translate_pattern(pattern);
  return result ? *result : to_string(result.error());
}

std::vector<std::string> split(std::string_view pattern, std::string_view text,
                               SplitBehaviour behaviour = SplitBehaviour::isolated) {
  const std::vector<SplitRule> rules = {
      {.pattern = translated(pattern), .behaviour = behaviour, .is_foreign = true}};
  const auto splitter = Splitter::create(rules);
  if (!splitter) return {to_string(splitter.error())};
  std::vector<std::string> pieces;
  for (const size_t length : splitter->split(text)) {
    pieces.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return pieces;
}

TEST(ForeignPattern, WithoutTrapsStaysAsItIs) {
  for (const char* pattern :
       {R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
        R"([^\r\n\p{L}]?+\p{L}++)", R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)",
        "(?:a|b)(?<=b)(?<!c)(?=d)(?>e)"}) {
    EXPECT_EQ(translated(pattern), pattern);
  }
}

TEST(ForeignPattern, CaselessGroupsMatchAsciiCasesAlone) {
  EXPECT_EQ(translated("(?i:'s|'ll)x"), "(?:'[sS]|'[lL][lL])x");
  EXPECT_EQ(translated("'(?i:[sdmt]|[a-c_])"), "'(?:[s-sS-Sd-dD-Dm-mM-Mt-tT-T]|[a-cA-C_])");
  EXPECT_THAT(split("(?i:'s)|.", "'S'\u017F"), ElementsAre("'S", "'", "\u017F"));
}

TEST(ForeignPattern, CodePointsAreSpelledOurWay) {
  EXPECT_EQ(translated(R"([\u4e00-\u9fa5]\x{1F600}\x41)"), R"([\x{4e00}-\x{9fa5}]\x{1F600}\x{41})");
}

TEST(ForeignPattern, ADollarIsTheEndOfAnyLine) {
  EXPECT_THAT(split(" +$", "a  \nb "), ElementsAre("a", "  ", "\nb", " "));
}

TEST(ForeignPattern, WhatTheEnginesReadDifferentlyIsRefused) {
  for (const char* pattern :
       {"[a[b]]", "[a&&b]", R"([^\S\n])", "(?i)a", "^a", R"(\w+)", R"(\bx)", R"((a)\1)", R"(\K)",
        R"(\C)", R"(\G)", "[]a]", R"([[:alpha:]])", "(?i:[Z-~])", R"((?i:[Z-\x7f]))"}) {
    EXPECT_THAT(translated(pattern), HasSubstr("not read")) << pattern;
  }
}

TEST(ForeignPattern, NoneCanRecurseOrGiveOrders) {
  for (const char* pattern : {"(?R)", "(?1)", "(*COMMIT)", "(*LIMIT_MATCH=9)a", "(?C1)", "(?#x)",
                              "(?P<a>b)", "(?&a)", "(?(1)a|b)", "(?<a>b)", "(?|a)", "(?'a'b)"}) {
    EXPECT_THAT(translated(pattern), HasSubstr("not read")) << pattern;
  }
}

TEST(ForeignPattern, BrokenOnesAreNamedWithTheirPlace) {
  EXPECT_EQ(translated("a\\"),
            "cannot make a tokenizer: pattern 'a\\', offset 1: ends in a backslash");
  EXPECT_THAT(translated("(a"), HasSubstr("offset 2: a group has no end"));
  EXPECT_THAT(translated("a)"), HasSubstr("offset 1: a group ends that none began"));
  EXPECT_THAT(translated("[a"), HasSubstr("a class has no end"));
  EXPECT_THAT(translated("[b-a]"), HasSubstr("range out of order"));
  EXPECT_THAT(translated("a{2}{3}**"), HasSubstr("offset "));
  EXPECT_THAT(translated("\\p{Nonsense}"), HasSubstr("offset "));
  EXPECT_THAT(translated("\\pL"), HasSubstr("a property has no braces"));
  EXPECT_THAT(translated("\\p{L"), HasSubstr("a property has no braces"));
  EXPECT_THAT(translated("\\u12"), HasSubstr("a code point is cut short"));
  EXPECT_THAT(translated("\\u12g4"), HasSubstr("is no hexadecimal number"));
  EXPECT_THAT(translated("\\x{110000}"), HasSubstr("offset "));
  EXPECT_THAT(translated("\xff"), HasSubstr("offset "));
  EXPECT_THAT(translated(std::string(200, '(')), HasSubstr("is nested too deeply"));
  EXPECT_THAT(translated(std::string(40000, 'a')), HasSubstr("has 40000 bytes, at most 32768"));
  EXPECT_THAT(translated("(?:(?:a{1,1000}){1,1000}){1,1000}"), HasSubstr("too large"));
}

TEST(ForeignPattern, NoPatternTakesLong) {
  const std::string text = std::string(60, 'a') + "bc";  // the c that it could end in is there
  EXPECT_EQ(split("(?:(?:a+)+)+c", text).size(), 1U);
}

TEST(SplitRules, MatchesGoWhereTheirBehaviourSays) {
  constexpr const char* kText = "-a--b-";
  EXPECT_THAT(split("-", kText), ElementsAre("-", "a", "-", "-", "b", "-"));
  EXPECT_THAT(split("-", kText, SplitBehaviour::merged_with_previous),
              ElementsAre("-", "a-", "-", "b-"));
  EXPECT_THAT(split("-", kText, SplitBehaviour::merged_with_next),
              ElementsAre("-a", "-", "-b", "-"));
  EXPECT_THAT(split("-", kText, SplitBehaviour::contiguous), ElementsAre("-", "a", "--", "b", "-"));
}

}  // namespace
}  // namespace evener::tokenizer
