#include "tokenizer/recognise_pretokenizer.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "tokenizer/pretokenizer.h"
#include "tokenizer/splitter.h"

namespace evener::tokenizer {
namespace {

// Of one match; the strings are short. A pattern made to be slow is not recognised.
constexpr uint32_t kProbeSteps = 2000;

// One of each kind: letters with and without case, marks, numbers, punctuation, symbols, white
// space, and what a rule names itself.
constexpr std::string_view kKinds[] = {
    "a",      "A",  "\u01c5", "\u02b0", "\u05d0", "\u4e2d", "\u3042",     "\uac00",
    "\u0301", "1",  "\u0665", "\u00bd", ".",      "_",      "(",          "/",
    "|",      "'",  "$",      "\u20ac", "\u3002", "\uff01", "\U0001f600", " ",
    "\t",     "\n", "\r",     "\u00a0", "\u0085", "\u0001",
};

// Endings of words in English, with what some rules take for their letters.
constexpr std::string_view kEndings[] = {"'s", "'T",  "'re", "'Ve",     "'m",  "'LL", "'d",
                                         "'x", "'sa", "'rE", "'\u017f", " 's", "1's", "\n's"};

// Words that some rules cut by their length or by the case inside, and further characters.
constexpr std::string_view kWords[] = {
    "1234567890", "12345a",     "1 2  3", "aBcD",       "ABcd",  "ABCd efG", "...\n\n.",
    "a/b//\n",    "\n\n  \n a", "   a  ", "caf\u00e9s", "a, b,", "1+1^2",    "\u2167\u2028x\u200b",
    "\u2019s a",
};

// All strings of three kinds, and each with a fourth, another for each pair that it begins with:
// all of four would take a minute.
std::vector<std::string> probes() {
  std::vector<std::string> texts;
  size_t fourth = 0;
  for (const std::string_view first : kKinds) {
    for (const std::string_view second : kKinds) {
      ++fourth;
      for (const std::string_view third : kKinds) {
        std::string text = std::string(first).append(second).append(third);
        texts.push_back(text);
        texts.push_back(text.append(kKinds[++fourth % std::size(kKinds)]));
      }
    }
    for (const std::string_view ending : kEndings) {
      texts.push_back(std::string(first).append(ending));
      texts.push_back(std::string(first).append(ending).append(first));
    }
    for (const std::string_view word : kWords) {
      texts.push_back(std::string(first).append(word));
      texts.push_back(std::string(word).append(first));
    }
  }
  return texts;
}

}  // namespace

Result<std::string_view> recognise_pretokenizer(const Vocab& vocab) {
  if (!vocab.splits) return std::string_view();
  ASSIGN_OR_RETURN(const Splitter wanted, Splitter::create(*vocab.splits, kProbeSteps));
  const std::vector<std::string> texts = probes();
  std::string_view almost;  // splits alike, but takes words whole where this does not
  for (const Pretokenizer& rule : pretokenizers()) {
    const bool same_words = rule.whole_words == vocab.whole_words;
    if (!same_words && !almost.empty()) continue;
    ASSIGN_OR_RETURN(const Splitter known, Splitter::create(split_rules(rule)));
    const bool same = std::ranges::all_of(
        texts, [&](const std::string& text) { return known.split(text) == wanted.split(text); });
    if (same && same_words) return rule.names.front();
    if (same) almost = rule.names.front();
  }
  return almost;
}

}  // namespace evener::tokenizer
