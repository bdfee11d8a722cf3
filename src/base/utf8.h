#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace evener::utf8 {

// One decoded code point, or one byte that is no part of a well-formed sequence.
struct Decoded {
  char32_t code_point = 0;  // U+FFFD if !valid
  size_t num_bytes = 0;     // 1 if !valid; 0 only at the end of the text
  bool valid = false;
};

// Decodes at `offset`. Overlong forms, surrogates and values above U+10FFFF are not valid.
Decoded decode(std::string_view text, size_t offset);

void append(std::string& out, char32_t code_point);

bool is_valid(std::string_view text);

// `text` with every byte that is not part of a well-formed sequence replaced by U+FFFD.
std::string replace_invalid(std::string_view text);

// Length of the longest prefix that does not end inside a sequence that later bytes could still
// complete: what may be sent now. Bytes that can never become valid count as complete.
size_t complete_prefix(std::string_view text);

}  // namespace evener::utf8
