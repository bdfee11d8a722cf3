// Nothing of a stop text gets out, and nothing else is lost, however the text is cut.
#include "engine/stop_scanner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace evener::engine {
namespace {

TEST(StopScanner, WithoutStopsTextPassesAtOnce) {
  StopScanner scanner({});
  EXPECT_EQ(scanner.push("abc").text, "abc");
  EXPECT_EQ(scanner.finish(), "");
}

TEST(StopScanner, HoldsBackWhatMayBecomeAStopText) {
  StopScanner scanner({"END"});
  EXPECT_EQ(scanner.push("the E").text, "the ");
  EXPECT_EQ(scanner.push("N").text, "");
  EXPECT_EQ(scanner.push("E").text, "EN") << "the last E may begin another";
  EXPECT_EQ(scanner.finish(), "E");
}

TEST(StopScanner, StopsAcrossPiecesAndDropsTheRest) {
  StopScanner scanner({"\n\nUser:"});
  EXPECT_EQ(scanner.push("yes.\n").text, "yes.");
  const auto result = scanner.push("\nUser: and more");
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.text, "");
  EXPECT_EQ(scanner.finish(), "");
}

TEST(StopScanner, TheStopThatIsCompleteFirstWins) {
  StopScanner scanner({"bcde", "cd", "bcd"});
  const auto result = scanner.push("abcdef");
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.text, "a") << "bcd, the longer of the two that end at d";
  StopScanner other({"bcde", "cd"});
  EXPECT_EQ(other.push("abcdef").text, "ab");
}

TEST(StopScanner, ASelfOverlappingStopIsFound) {
  StopScanner scanner({"aab"});
  EXPECT_EQ(scanner.push("aaa").text, "a");
  const auto result = scanner.push("b");
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.text, "");
}

// Method: a two-letter alphabet, random stops and cuts, against a search in the whole text.
TEST(StopScanner, AgreesWithSearchingTheWholeText) {
  std::mt19937 random(11);
  const auto word = [&random](size_t length) {
    std::string out;
    for (size_t i = 0; i < length; ++i) out += random() % 2 == 0 ? 'a' : 'b';
    return out;
  };
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::string> stops;
    for (size_t i = 0; i <= random() % 3; ++i) stops.push_back(word(1 + random() % 5));
    const std::string text = word(random() % 20);

    StopScanner scanner(stops);
    std::string out;
    bool stopped = false;
    size_t num_read = 0;
    while (num_read < text.size() && !stopped) {
      const size_t size = std::min<size_t>(1 + random() % 4, text.size() - num_read);
      num_read += size;
      auto result = scanner.push(std::string_view(text).substr(num_read - size, size));
      out += result.text;
      stopped = result.stopped;
    }
    out += scanner.finish();

    size_t expected = std::string::npos;  // where the first complete stop begins
    for (size_t end = 1; end <= text.size() && expected == std::string::npos; ++end) {
      for (const auto& stop : stops) {
        if (!text.substr(0, end).ends_with(stop)) continue;
        expected = std::min(expected, end - stop.size());
      }
    }
    ASSERT_EQ(stopped, expected != std::string::npos) << text;
    ASSERT_EQ(out, text.substr(0, std::min(expected, text.size()))) << text;
  }
}

}  // namespace
}  // namespace evener::engine
