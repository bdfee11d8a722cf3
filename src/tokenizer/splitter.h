#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tokenizer/regex.h"
#include "tokenizer/vocab.h"

namespace evener::tokenizer {

// Splits text into words by rules that are applied one after the other, each to the pieces that the
// one before left. Immutable; safe from any thread.
class Splitter {
 public:
  // `foreign_steps_max` bounds one match of a pattern from a model's file. Errors: those of
  // Regex::compile.
  static Result<Splitter> create(std::span<const SplitRule> rules,
                                 uint32_t foreign_steps_max = Regex::kForeignSteps);

  // Lengths in bytes of the words of `text`, none of them 0; their sum is its size. A byte that is
  // not part of a well-formed UTF-8 sequence splits as U+FFFD would.
  std::vector<size_t> split(std::string_view text) const;

 private:
  struct Step {
    Regex pattern;
    SplitBehaviour behaviour;
  };
  explicit Splitter(std::vector<Step> steps) : steps_(std::move(steps)) {}
  std::vector<size_t> split_valid(std::string_view text) const;

  std::vector<Step> steps_;
};

}  // namespace evener::tokenizer
