// Bodies are hostile: what parse_object refuses, and that it stays linear.
#include "serve/json.h"

#include <gtest/gtest.h>

#include <string>

namespace evener::serve {
namespace {

std::string message_of(const std::string& body, JsonLimits limits = {}) {
  const auto parsed = parse_object(body, limits);
  return parsed ? "parsed" : parsed.error().message;
}

TEST(JsonBody, KeepsTheOrderOfKeys) {
  const auto parsed = parse_object(R"({"b":1,"a":{"z":[1,2.5,null,true],"y":"é\n"}})");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(dump(*parsed), R"({"b":1,"a":{"z":[1,2.5,null,true],"y":"é\n"}})");
}

TEST(JsonBody, SaysWhatIsWrong) {
  EXPECT_EQ(message_of(""), "the body is not valid JSON at byte 1");
  EXPECT_EQ(message_of("{\"a\":NaN}"), "the body is not valid JSON at byte 6");
  EXPECT_EQ(message_of("{\"a\":1e999}"), "the body is not valid JSON at byte 10");
  EXPECT_EQ(message_of("{\"a\":1} x"), "the body is not valid JSON at byte 9");
  EXPECT_EQ(message_of("[1]"), "the body must be a JSON object");
  EXPECT_EQ(message_of("{\"a\":\"\xff\"}"), "the body is not valid UTF-8");
  EXPECT_EQ(message_of(R"({"a":1,"b":2,"a":3})"),
            "the key \"a\" appears twice in one object of the body");
}

TEST(JsonBody, RefusesNestingBeforeBuildingIt) {
  EXPECT_EQ(message_of("{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}"),
            "the body's JSON is nested deeper than 64 levels");
  // Brackets in strings are text.
  EXPECT_EQ(message_of("{\"a\":\"" + std::string(100'000, '[') + "\\\"[\"}"), "parsed");
  EXPECT_EQ(message_of("{\"a\":" + std::string(63, '[') + std::string(63, ']') + "}"), "parsed");
}

TEST(JsonBody, CountsValuesBeforeBuildingThem) {
  EXPECT_EQ(message_of("{\"a\":[1,2,3,4,5,6]}", {.depth = 64, .num_values = 5}),
            "the body's JSON has more than 5 values");
}

// With the library's own builder this takes hours: each key is looked up among all before it.
TEST(JsonBody, TakesAMillionKeysInLinearTime) {
  std::string body = "{\"0\":0";
  for (int i = 1; i < 1'000'000; ++i) body += ",\"" + std::to_string(i) + "\":0";
  const auto parsed = parse_object(body + "}");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->size(), 1'000'000U);
}

TEST(JsonBody, TakesTenMegabytesOfText) {
  std::string text;
  text.resize(10'000'000, 'x');
  const auto parsed = parse_object("{\"prompt\":\"" + text + "\"}");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ((*parsed)["prompt"].get_ref<const std::string&>().size(), 10'000'000U);
}

TEST(JsonBody, WritesInvalidTextAsReplacementCharacters) {
  EXPECT_EQ(dump(Json{{"a", "x\xffy"}}), "{\"a\":\"x\xEF\xBF\xBDy\"}");
}

}  // namespace
}  // namespace evener::serve
