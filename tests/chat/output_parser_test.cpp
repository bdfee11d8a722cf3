#include "chat/output_parser.h"

#include <gtest/gtest.h>

#include <string>

namespace evener::chat {
namespace {

struct Sorted {
  std::string reasoning;
  std::string content;
  bool operator==(const Sorted&) const = default;
};

void add(Sorted& sorted, const std::vector<OutputEvent>& events) {
  for (const OutputEvent& event : events) {
    EXPECT_FALSE(event.text.empty());
    (event.kind == OutputEvent::Kind::reasoning ? sorted.reasoning : sorted.content) += event.text;
  }
}

Sorted sorted(const std::string& text, bool starts_in_reasoning, size_t piece_bytes) {
  const auto parser = make_output_parser(
      {.format = OutputFormat::think, .starts_in_reasoning = starts_in_reasoning});
  Sorted result;
  for (size_t i = 0; i < text.size(); i += piece_bytes) {
    add(result, parser->push(text.substr(i, piece_bytes)));
  }
  add(result, parser->finish());
  return result;
}

struct ParserCase {
  const char* text;
  bool starts_in_reasoning;
  Sorted expected;
};

const ParserCase kCases[] = {
    {"plain", false, {"", "plain"}},
    {"", false, {"", ""}},
    {"<think>why</think>because", false, {"why", "because"}},
    {"\n<think>\n why not \n</think>\n\nso\n", false, {"why not", "so\n"}},
    {"<think></think>x", false, {"", "x"}},
    {"<think>\n\n</think>\n\nx", false, {"", "x"}},
    {"<think>never ends \n", false, {"never ends", ""}},
    {"<think>", false, {"", ""}},
    {"<thin", false, {"", "<thin"}},
    {"<thinking>x", false, {"", "<thinking>x"}},
    {"  leading space", false, {"", "  leading space"}},
    {"a <think>b</think>", false, {"", "a <think>b</think>"}},
    {"<think>a</think>b<think>c</think>", false, {"a", "b<think>c</think>"}},
    {"<think>a < b </ think> </thin </think>c", false, {"a < b </ think> </thin", "c"}},
    {"<think>a</think", false, {"a</think", ""}},
    {"<think>a <</think>b", false, {"a <", "b"}},
    {"so it is\n</think>\n\nYes.", true, {"so it is", "Yes."}},
    {"\nso it is", true, {"so it is", ""}},
    {"</think>Yes.", true, {"", "Yes."}},
    {"<think>again</think>Yes.", true, {"again", "Yes."}},
    {"<thinly", true, {"<thinly", ""}},
    {"<thi", true, {"<thi", ""}},
    {"a\n\nb</think>c", true, {"a\n\nb", "c"}},
};

// However an answer is cut into pieces, it is sorted the same.
TEST(ThinkParser, SortsReasoningFromContentInPiecesOfAnySize) {
  for (const ParserCase& c : kCases) {
    for (const size_t piece_bytes : {1u, 2u, 3u, 5u, 7u, 100u}) {
      EXPECT_EQ(sorted(c.text, c.starts_in_reasoning, piece_bytes), c.expected)
          << c.text << " in pieces of " << piece_bytes << ": '"
          << sorted(c.text, c.starts_in_reasoning, piece_bytes).reasoning << "'";
    }
  }
}

TEST(ThinkParser, HoldsBackNothingThatIsCertain) {
  const auto parser = make_output_parser({.format = OutputFormat::think});
  EXPECT_TRUE(parser->push("<thi").empty());
  EXPECT_TRUE(parser->push("nk>").empty());
  EXPECT_EQ(parser->push("so <").at(0).text, "so");
  EXPECT_EQ(parser->push("b").at(0).text, " <b");
  EXPECT_TRUE(parser->push("</think").empty());
  EXPECT_TRUE(parser->push(">\n").empty());
  EXPECT_EQ(parser->push("a").at(0).text, "a");
  EXPECT_EQ(parser->push(" <think>").at(0).text, " <think>");
}

TEST(PlainParser, PassesEverythingOn) {
  const auto parser = make_output_parser({});
  EXPECT_TRUE(parser->push("").empty());
  const auto events = parser->push("<think>x");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, OutputEvent::Kind::content);
  EXPECT_EQ(events[0].text, "<think>x");
  EXPECT_TRUE(parser->finish().empty());
}

}  // namespace
}  // namespace evener::chat
