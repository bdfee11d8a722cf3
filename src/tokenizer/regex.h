#pragma once

#include <cstddef>
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

  // Errors: internal (the pattern is ours, so this is our fault).
  static Result<Regex> compile(std::string_view pattern);

  // The first match at or after `offset`; `text` must be valid UTF-8. A match whose cost exceeds
  // kMatchSteps counts as none, so no text can take long.
  std::optional<Match> find(std::string_view text, size_t offset, Scratch& scratch) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };
  explicit Regex(pcre2_real_code_8* code) : code_(code) {}

  std::unique_ptr<pcre2_real_code_8, Free> code_;
};

}  // namespace evener::tokenizer
