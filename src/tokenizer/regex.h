#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/error.h"

struct pcre2_real_code_8;
struct pcre2_real_match_context_8;
struct pcre2_real_match_data_8;

namespace evener::tokenizer {

// A compiled pattern over UTF-8 text with Unicode classes. \s and \S mean Unicode White_Space, as
// in the tokenizers whose patterns these are. Immutable; safe from any thread.
class Regex {
 public:
  // What one thread needs for matching; reusable for any pattern without capture groups.
  class Scratch {
   public:
    Scratch();
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

   private:
    friend class Regex;
    pcre2_real_match_context_8* context_;  // null, as the next, when memory is out
    pcre2_real_match_data_8* data_;
  };

  struct Match {
    size_t begin = 0;
    size_t end = 0;
  };

  // Backtracking points of one match. Our patterns need about two for each character of a match,
  // and one match may be a whole long text; patterns of strangers get less.
  static constexpr uint32_t kSteps = 1'000'000'000;
  static constexpr uint32_t kForeignSteps = 50'000'000;

  // Errors: internal (the pattern is ours, so this is our fault; who takes one from a file says
  // unsupported).
  static Result<Regex> compile(std::string_view pattern, uint32_t steps_max = kSteps);

  // The first match at or after `offset`; `text` must be valid UTF-8. A match whose cost exceeds
  // `steps_max` counts as none, so no text can take long.
  std::optional<Match> find(std::string_view text, size_t offset, Scratch& scratch) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };
  Regex(pcre2_real_code_8* code, uint32_t steps_max) : code_(code), steps_max_(steps_max) {}

  std::unique_ptr<pcre2_real_code_8, Free> code_;
  uint32_t steps_max_;
};

}  // namespace evener::tokenizer
