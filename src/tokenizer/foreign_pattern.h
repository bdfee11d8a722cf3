#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace evener::tokenizer {

// A pattern of tokenizer.json, written for Oniguruma, as one that Regex takes and that means the
// same. Letters in (?i:...) match their two ASCII cases alone, as there. What the two engines read
// differently, or what lets a stranger's pattern do more than match, is refused.
//
// Errors: unsupported, limit_exceeded; `where` is empty, `why` has the offset. Judges:
// tests/tokenizer/foreign_pattern_test.cpp, tests/peer/tokenizer.sh.
Result<std::string> translate_pattern(std::string_view pattern);

// A pattern that matches `text` and nothing else.
std::string literal_pattern(std::string_view text);

}  // namespace evener::tokenizer
