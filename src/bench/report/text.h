#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "bench/report.h"

namespace evener::bench {

// A text in every language of a report: one page can hold both.
struct Text {
  std::string english;
  std::string chinese;

  const std::string& in(Language language) const {
    return language == Language::chinese ? chinese : english;
  }
  bool empty() const { return english.empty() && chinese.empty(); }
  bool operator==(const Text&) const = default;
};

// The same in every language: figures, names, what somebody else wrote.
Text same(std::string text);

Text operator+(Text a, const Text& b);

// `form` with "{0}", "{1}", ... replaced; other braces stay.
Text fill(const Text& form, std::initializer_list<Text> arguments);

// What may be shown of a text from outside, on any kind of page: at most `bytes_max` bytes of
// well-formed UTF-8, control characters and those that turn the writing direction replaced.
std::string shown(std::string_view text, size_t bytes_max = 300);

// Columns of a terminal that `text` takes: Chinese characters take two.
size_t columns_of(std::string_view text);

}  // namespace evener::bench
