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

void split_piece(std::string_view piece, const Regex& pattern, Regex::Scratch& scratch,
                 std::vector<size_t>& lengths) {
  size_t done = 0;
  while (done < piece.size()) {
    const auto match = pattern.find(piece, done, scratch);
    if (!match || match->end == match->begin) break;
    if (match->begin > done) lengths.push_back(match->begin - done);
    lengths.push_back(match->end - match->begin);
    done = match->end;
  }
  if (done < piece.size()) lengths.push_back(piece.size() - done);
}

}  // namespace

Result<Splitter> Splitter::create(const Pretokenizer& rule) {
  std::vector<Regex> patterns;
  for (const std::string_view pattern : rule.patterns) {
    ASSIGN_OR_RETURN(Regex regex, Regex::compile(pattern));
    patterns.push_back(std::move(regex));
  }
  return Splitter(std::move(patterns));
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
  for (const Regex& pattern : patterns_) {
    std::vector<size_t> finer;
    finer.reserve(lengths.size());
    size_t begin = 0;
    for (const size_t length : lengths) {
      split_piece(text.substr(begin, length), pattern, scratch, finer);
      begin += length;
    }
    lengths = std::move(finer);
  }
  return lengths;
}

}  // namespace evener::tokenizer
