#pragma once

#include <string_view>

#include "bench/report/text.h"
#include "bench/report/words_caliber.h"
#include "bench/report/words_faults.h"
#include "bench/report/words_figures.h"
#include "bench/report/words_page.h"

// The one table of what a report says, in every language. A key that code writes down and the table
// lacks does not compile; keys from a run are looked up and have a fallback.

namespace evener::bench {

constexpr const Word* find_word(std::string_view key) {
  for (const Word& word : kWordsOfPage) {
    if (word.key == key) return &word;
  }
  for (const Word& word : kWordsOfFigures) {
    if (word.key == key) return &word;
  }
  for (const Word& word : kWordsOfFaults) {
    if (word.key == key) return &word;
  }
  for (const Word& word : kWordsOfCaliber) {
    if (word.key == key) return &word;
  }
  return nullptr;
}

class WordKey {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): word("page.n") is what callers write
  consteval WordKey(const char* key) : word_(*find_word(key)) {}
  const Word& word() const { return word_; }

 private:
  Word word_;
};

inline Text word(WordKey key) {
  return {.english = std::string(key.word().english), .chinese = std::string(key.word().chinese)};
}

// The word for `group`.`name`, where the name came from a run; without one the name itself, its
// underscores as spaces.
Text word_or_name(std::string_view group, std::string_view name);

}  // namespace evener::bench
