#include "tokenizer/splitter.h"

#include <string>
#include <utility>

#include "base/utf8.h"

namespace evener::tokenizer {
namespace {

// Valid text in place of an invalid one.
struct Repaired {
  std::string text;
  std::vector<size_t> replaced;  // where in `text` one byte became the three of U+FFFD; ascending
};

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

Repaired repair(std::string_view text) {
  Repaired repaired;
  repaired.text.reserve(text.size());
  for (size_t offset = 0; offset < text.size();) {
    const utf8::Decoded decoded = utf8::decode(text, offset);
    if (decoded.valid) {
      repaired.text += text.substr(offset, decoded.num_bytes);
    } else {
      repaired.replaced.push_back(repaired.text.size());
      repaired.text += kReplacement;
    }
    offset += decoded.num_bytes;
  }
  return repaired;
}

// Turns lengths in the repaired text into lengths in the original.
void shorten(std::vector<size_t>& lengths, const std::vector<size_t>& replaced) {
  size_t end = 0;
  auto next = replaced.begin();
  for (size_t& length : lengths) {
    end += length;
    for (; next != replaced.end() && *next < end; ++next) length -= kReplacement.size() - 1;
  }
}

// A match, or the text between two of them.
struct Part {
  size_t length = 0;
  bool is_match = false;
};

void cut_piece(std::string_view piece, const Regex& pattern, Regex::Scratch& scratch,
               std::vector<Part>& parts) {
  size_t done = 0;
  while (done < piece.size()) {
    const auto match = pattern.find(piece, done, scratch);
    if (!match || match->end == match->begin) break;
    if (match->begin > done) parts.push_back({.length = match->begin - done});
    parts.push_back({.length = match->end - match->begin, .is_match = true});
    done = match->end;
  }
  if (done < piece.size()) parts.push_back({.length = piece.size() - done});
}

// Whether `part` goes on the piece that `before` is the last part of.
bool joins(const Part& before, const Part& part, SplitBehaviour behaviour) {
  switch (behaviour) {
    case SplitBehaviour::isolated:
      return false;
    case SplitBehaviour::merged_with_previous:
      return part.is_match && !before.is_match;
    case SplitBehaviour::merged_with_next:
      return before.is_match && !part.is_match;
    case SplitBehaviour::contiguous:
      return part.is_match && before.is_match;
  }
  return false;
}

void join_parts(const std::vector<Part>& parts, SplitBehaviour behaviour,
                std::vector<size_t>& lengths) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0 && joins(parts[i - 1], parts[i], behaviour)) {
      lengths.back() += parts[i].length;
    } else {
      lengths.push_back(parts[i].length);
    }
  }
}

}  // namespace

Result<Splitter> Splitter::create(std::span<const SplitRule> rules, uint32_t foreign_steps_max) {
  std::vector<Step> steps;
  for (const SplitRule& rule : rules) {
    const uint32_t steps_max = rule.is_foreign ? foreign_steps_max : Regex::kSteps;
    ASSIGN_OR_RETURN(Regex regex, Regex::compile(rule.pattern, steps_max));
    steps.push_back({.pattern = std::move(regex), .behaviour = rule.behaviour});
  }
  return Splitter(std::move(steps));
}

std::vector<size_t> Splitter::split(std::string_view text) const {
  if (utf8::is_valid(text)) return split_valid(text);
  const Repaired repaired = repair(text);
  std::vector<size_t> lengths = split_valid(repaired.text);
  shorten(lengths, repaired.replaced);
  return lengths;
}

std::vector<size_t> Splitter::split_valid(std::string_view text) const {
  std::vector<size_t> lengths;
  if (!text.empty()) lengths.push_back(text.size());
  Regex::Scratch scratch;
  std::vector<Part> parts;
  for (const Step& step : steps_) {
    std::vector<size_t> finer;
    finer.reserve(lengths.size());
    size_t begin = 0;
    for (const size_t length : lengths) {
      parts.clear();
      cut_piece(text.substr(begin, length), step.pattern, scratch, parts);
      join_parts(parts, step.behaviour, finer);
      begin += length;
    }
    lengths = std::move(finer);
  }
  return lengths;
}

}  // namespace evener::tokenizer
