#include "bench/client/sse_parser.h"

#include <gtest/gtest.h>

#include <vector>

namespace evener::bench {
namespace {

struct Heard {
  std::string type;
  std::string data;
  bool operator==(const Heard&) const = default;
};

void PrintTo(const Heard& heard, std::ostream* out) {
  *out << "{" << heard.type << "|" << heard.data << "}";
}

std::vector<Heard> hear(const std::vector<std::string_view>& pieces) {
  SseParser parser;
  std::vector<Heard> events;
  const auto take = [&](const SseParser::Event& event) {
    events.push_back({std::string(event.type), std::string(event.data)});
    return true;
  };
  for (const std::string_view piece : pieces) {
    EXPECT_EQ(parser.feed(piece, take), SseParser::Outcome::more);
  }
  EXPECT_EQ(parser.end(take), SseParser::Outcome::more);
  return events;
}

struct Case {
  std::string_view text;
  std::vector<Heard> events;
};

const std::vector<Case> kCases = {
    {"data: a\n\ndata: b\n\n", {{"", "a"}, {"", "b"}}},
    {"data: a\r\n\r\ndata: b\r\n\r\n", {{"", "a"}, {"", "b"}}},
    {"data: a\r\rdata: b\r\r", {{"", "a"}, {"", "b"}}},
    {"data: a\r\n\rdata: b\n\r\n", {{"", "a"}, {"", "b"}}},
    {"\xEF\xBB\xBF"
     "data: a\n\n",
     {{"", "a"}}},
    {"data:a\n\ndata:  b\n\n", {{"", "a"}, {"", " b"}}},
    {"data: one\ndata: two\n\n", {{"", "one\ntwo"}}},
    {"event: x\r\ndata: one\r\ndata: two\r\n\r\n", {{"x", "one\ntwo"}}},
    {"data\n\n", {{"", ""}}},
    {"data: \n\n", {{"", ""}}},
    {": a comment\n\n:\n\ndata: a\n: another\n\n", {{"", "a"}}},
    {"event: error\ndata: x\n\ndata: y\n\n", {{"error", "x"}, {"", "y"}}},
    {"event: ping\n\ndata: y\n\n", {{"", "y"}}},
    {"id: 3\nretry: 10\nunknown\nmore: data: no\ndata: a\n\n", {{"", "a"}}},
    {"datax: no\ndata: a: b\n\n", {{"", "a: b"}}},
    {"\n\n\r\n\r\r\ndata: a\n\n\n\n", {{"", "a"}}},
    {"data: a\n\ndata: [DONE]\n", {{"", "a"}, {"", "[DONE]"}}},
    {"data: a\n\ndata: [DONE]", {{"", "a"}, {"", "[DONE]"}}},
    {"", {}},
    {"\r", {}},
};

TEST(SseParser, EventsAreTheSameWhereverTheTextIsSplit) {
  for (const Case& c : kCases) {
    EXPECT_EQ(hear({c.text}), c.events) << c.text;
    for (size_t i = 0; i <= c.text.size(); ++i) {
      const std::string_view head = c.text.substr(0, i);
      EXPECT_EQ(hear({head, c.text.substr(i)}), c.events) << c.text << " split at " << i;
    }
    std::vector<std::string_view> bytes;
    for (size_t i = 0; i < c.text.size(); ++i) bytes.push_back(c.text.substr(i, 1));
    EXPECT_EQ(hear(bytes), c.events) << c.text << " byte by byte";
  }
}

TEST(SseParser, WhoWantsNoMoreHearsNoMore) {
  SseParser parser;
  int num_events = 0;
  const auto take = [&](const SseParser::Event&) { return ++num_events < 2; };
  EXPECT_EQ(parser.feed("data: a\n\ndata: b\n\ndata: c\n\n", take), SseParser::Outcome::stopped);
  EXPECT_EQ(num_events, 2);
}

// One long line, and many short ones: memory has a limit either way.
TEST(SseParser, AnEventHasALimit) {
  const auto never = [](const SseParser::Event&) { return false; };
  const std::string mib(size_t{1} << 20, 'x');
  SseParser line;
  SseParser::Outcome outcome = line.feed("data: ", never);
  size_t num_pieces = 0;
  while (outcome == SseParser::Outcome::more && ++num_pieces < 100) outcome = line.feed(mib, never);
  EXPECT_EQ(outcome, SseParser::Outcome::too_large);
  EXPECT_EQ(num_pieces, 8U);

  SseParser lines;
  outcome = SseParser::Outcome::more;
  num_pieces = 0;
  while (outcome == SseParser::Outcome::more && ++num_pieces < 100) {
    outcome = lines.feed("data: " + mib + "\n", never);
  }
  EXPECT_EQ(outcome, SseParser::Outcome::too_large);
  EXPECT_EQ(num_pieces, 8U);
}

}  // namespace
}  // namespace evener::bench
