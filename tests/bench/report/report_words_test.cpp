// Goal: whatever a report may have to say, it says in both languages.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "bench/experiment.h"
#include "bench/finding.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

std::vector<Word> all_words() {
  std::vector<Word> words(std::begin(kWordsOfPage), std::end(kWordsOfPage));
  words.insert(words.end(), std::begin(kWordsOfFigures), std::end(kWordsOfFigures));
  words.insert(words.end(), std::begin(kWordsOfFaults), std::end(kWordsOfFaults));
  words.insert(words.end(), std::begin(kWordsOfCaliber), std::end(kWordsOfCaliber));
  return words;
}

std::multiset<std::string> places(std::string_view text) {
  std::multiset<std::string> found;
  for (size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    found.insert(std::string(text.substr(at, 3)));
  }
  return found;
}

bool has_chinese(std::string_view text) {
  return columns_of(text) < text.size() && columns_of(text) > 0 &&
         std::any_of(text.begin(), text.end(), [](char c) { return uint8_t(c) >= 0xE3; });
}

TEST(Words, AreThereInBothLanguagesUnderOneKeyEach) {
  std::set<std::string_view> keys;
  for (const Word& word : all_words()) {
    EXPECT_TRUE(keys.insert(word.key).second) << word.key;
    EXPECT_FALSE(word.english.empty()) << word.key;
    EXPECT_FALSE(word.chinese.empty()) << word.key;
    EXPECT_EQ(places(word.english), places(word.chinese)) << word.key;
  }
}

TEST(Words, OfSentencesAndHeadingsAreChineseInChinese) {
  const std::set<std::string_view> alike = {"column.requests", "statistic.p95",
                                            "caliber.model.hash", "ui.language"};
  for (const Word& word : all_words()) {
    if (alike.contains(word.key)) continue;
    EXPECT_TRUE(has_chinese(word.chinese)) << word.key;
    EXPECT_FALSE(has_chinese(word.english)) << word.key;
  }
}

TEST(Words, NameEveryFault) {
  for (unsigned i = 0; i <= unsigned(kLastFault); ++i) {
    const std::string key = "fault." + std::string(to_word(Fault(i)));
    EXPECT_NE(find_word(key), nullptr) << key;
  }
}

TEST(Words, NameHowThingsEnd) {
  for (const char* word : {"stop", "length", "tool_calls", "error", "cancelled", "timeout"}) {
    EXPECT_NE(find_word("finish." + std::string(word)), nullptr) << word;
  }
  for (const char* word : {"complete", "partial", "voided"}) {
    EXPECT_NE(find_word("state." + std::string(word)), nullptr) << word;
  }
  for (const char* word : {"unfinished", "complete", "interrupted", "failed"}) {
    EXPECT_NE(find_word("run_state." + std::string(word)), nullptr) << word;
  }
  for (const char* word : {"note", "warning", "voids"}) {
    EXPECT_NE(find_word("severity." + std::string(word)), nullptr) << word;
  }
}

TEST(Words, IntroduceEveryExperiment) {
  for (const Experiment* experiment : experiments()) {
    EXPECT_NE(find_word("experiment." + std::string(experiment->name)), nullptr);
    EXPECT_NE(find_word("lead." + std::string(experiment->name)), nullptr) << experiment->name;
  }
}

TEST(Words, FallBackToTheNameThatARunGives) {
  EXPECT_EQ(word_or_name("target", "num_users").chinese, "并发数");
  EXPECT_EQ(word_or_name("target", "some_thing").english, "some thing");
  EXPECT_EQ(word_or_name("target", "\x1b[2J<b>").english, "\xEF\xBF\xBD[2J<b>");
}

TEST(Text, IsFilledInTheOrderOfEachLanguage) {
  const Text form{"{0} of {1} {x}", "{1} 中的 {0}"};
  const Text filled = fill(form, {same("3"), Text{"ten", "十"}});
  EXPECT_EQ(filled.english, "3 of ten {x}");
  EXPECT_EQ(filled.chinese, "十 中的 3");
}

TEST(Text, ShowsNothingThatMovesACursorOrTurnsTheWritingDirection) {
  EXPECT_EQ(shown("a\tb\nc"), "a b c");
  EXPECT_EQ(shown("\x1b[31m"), "\xEF\xBF\xBD[31m");
  EXPECT_EQ(shown("\xE2\x80\xAE"
                  "abc"),
            "\xEF\xBF\xBD"
            "abc");
  EXPECT_EQ(shown("\xFF\xC3"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(shown("ääää", 5), "ää...");
}

TEST(Text, CountsColumnsAsATerminalDoes) {
  EXPECT_EQ(columns_of("abc"), 3u);
  EXPECT_EQ(columns_of("首字延迟"), 8u);
  EXPECT_EQ(columns_of("é"), 1u);
}

}  // namespace
}  // namespace evener::bench
