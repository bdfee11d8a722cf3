// Goal: texts that are JSON become the document they state, all others are refused at their place,
// and no text asks for more than the limits. Method: texts written out; tests/fuzz/json_fuzz.cpp
// goes on with those of a machine.
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace evener::json {
namespace {

using testing::HasSubstr;

Value parsed(std::string_view text) {
  auto value = parse(text, "t.json");
  EXPECT_TRUE(value.has_value()) << text << "\n" << to_string(value.error());
  return value ? *std::move(value) : Value("refused");
}

std::string complaint(std::string_view text, const Limits& limits = {}) {
  const auto value = parse(text, "t.json", limits);
  return value ? "accepted" : to_string(value.error());
}

TEST(Json, ValuesAreWhatTheyState) {
  EXPECT_EQ(parsed("null"), Value());
  EXPECT_EQ(parsed(" true\n"), Value(true));
  EXPECT_EQ(parsed("\xEF\xBB\xBF"
                   "false"),
            Value(false));
  EXPECT_EQ(parsed("[]"), Value::array());
  EXPECT_EQ(parsed("{ }"), Value::object());
  EXPECT_EQ(parsed(R"([1, [2,{}], {"a" : [ ] , "b":null}])"),
            Value({1, {2, Value::object()}, {{"a", Value::array()}, {"b", nullptr}}}));
}

TEST(Json, NumbersKeepTheirKind) {
  EXPECT_TRUE(parsed("0").is_number_unsigned());
  EXPECT_EQ(parsed("18446744073709551615"), Value(std::numeric_limits<uint64_t>::max()));
  EXPECT_TRUE(parsed("18446744073709551616").is_number_float());
  EXPECT_EQ(parsed("-9223372036854775808"), Value(std::numeric_limits<int64_t>::min()));
  EXPECT_FALSE(parsed("-0").is_number_float());
  EXPECT_EQ(parsed("-1.5e+2"), Value(-150.0));
  EXPECT_EQ(parsed("1E-2"), Value(0.01));
  EXPECT_EQ(parsed("0.1").get<double>(), 0.1);  // rounded once, to the nearest
}

TEST(Json, TextsLoseTheirEscapes) {
  EXPECT_EQ(parsed(R"("\"\\\/\b\f\n\r\t")"), Value("\"\\/\b\f\n\r\t"));
  EXPECT_EQ(parsed(R"("x\u0041\u00e9\u4E2D\uD83D\uDE00y")"), Value("xA\u00e9\u4e2d\U0001f600y"));
  EXPECT_EQ(parsed(R"("\u0000")"), Value(std::string(1, '\0')));
  EXPECT_EQ(parsed("\"\u00e9\u4e2d\U0001f600\x7f\""), Value("\u00e9\u4e2d\U0001f600\x7f"));
  EXPECT_EQ(parsed(R"({"\u0061":1})"), Value({{"a", 1}}));
}

TEST(Json, WhatIsNoJsonIsRefused) {
  for (const std::string_view text : {"",
                                      " ",
                                      "[",
                                      "]",
                                      "{",
                                      "}",
                                      "[1",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "[1]]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{,}",
                                      "{1:2}",
                                      "{\"a\" 1}",
                                      "[}",
                                      "{]",
                                      "1 2",
                                      "nul",
                                      "True",
                                      "+1",
                                      "-",
                                      "01",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "1e+",
                                      "0x1",
                                      "1e999",
                                      "NaN",
                                      "'a'",
                                      "\"",
                                      "\"a",
                                      "\"\\",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\u12g4\"",
                                      "\"\\uD800\"",
                                      "\"\\uD800\\u0041\"",
                                      "\"\\uDC00\"",
                                      "\"\n\"",
                                      "\"\x80\"",
                                      "\"\xC3\"",
                                      "\"\xED\xA0\x80\"",
                                      "\"\xC0\x80\"",
                                      "/*x*/1",
                                      "\xEF\xBB"
                                      "1"}) {
    EXPECT_THAT(complaint(text), HasSubstr("t.json: is not valid JSON at byte")) << text;
  }
  EXPECT_THAT(complaint(std::string_view("1\0", 2)), HasSubstr("is not valid JSON at byte 1"));
  EXPECT_THAT(complaint(R"({"a": [1, 2, x]})"), HasSubstr("at byte 13\n"));
}

TEST(Json, NamesTwiceAreRefused) {
  EXPECT_THAT(complaint(R"({"a":1,"b":2,"\u0061":3})"), HasSubstr("names 'a' twice"));
  EXPECT_EQ(complaint(R"([{"a":1},{"a":2},{"b":{"a":{"a":1}}}])"), "accepted");
}

TEST(Json, LimitsHold) {
  const Limits limits{.depth = 3, .num_values = 5};
  EXPECT_EQ(complaint("[[[]]]", limits), "accepted");
  EXPECT_THAT(complaint("[[[[]]]]", limits), HasSubstr("is nested deeper than 3 levels"));
  EXPECT_THAT(complaint(R"({"a":{"a":{"a":{}}}})", limits), HasSubstr("is nested deeper"));
  EXPECT_EQ(complaint("[1,2,3,4]", limits), "accepted");
  EXPECT_THAT(complaint("[1,2,3,4,5]", limits), HasSubstr("has more than 5 values"));
  EXPECT_THAT(complaint(std::string(1 << 20, '[')), HasSubstr("is nested deeper"));
}

}  // namespace
}  // namespace evener::json
