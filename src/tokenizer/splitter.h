#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/regex.h"

namespace evener::tokenizer {

// Splits text into words by a Pretokenizer's patterns. Immutable; safe from any thread.
class Splitter {
 public:
  // Errors: those of Regex::compile.
  static Result<Splitter> create(const Pretokenizer& rule);

  // Lengths in bytes of the words of `text`, none of them 0; their sum is its size. A byte that is
  // not part of a well-formed UTF-8 sequence splits as U+FFFD would.
  std::vector<size_t> split(std::string_view text) const;

 private:
  explicit Splitter(std::vector<Regex> patterns) : patterns_(std::move(patterns)) {}
  std::vector<size_t> split_valid(std::string_view text) const;

  std::vector<Regex> patterns_;
};

}  // namespace evener::tokenizer
