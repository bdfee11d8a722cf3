#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace evener::chat::jinja {

// Texts as Python sees them: sequences of code points. Bytes that are no UTF-8 count as one each.

bool is_space(char c);               // ASCII whitespace
bool is_space(char32_t code_point);  // what str.strip() takes

std::string_view strip_begin(std::string_view text);
std::string_view strip_end(std::string_view text);
inline std::string_view strip(std::string_view text) { return strip_begin(strip_end(text)); }

// Takes any of `characters` instead of whitespace.
std::string_view strip_begin(std::string_view text, std::string_view characters);
std::string_view strip_end(std::string_view text, std::string_view characters);

size_t length(std::string_view text);                     // in code points
size_t byte_offset(std::string_view text, size_t index);  // of a code point; the size if beyond

// visit(view of one code point) for each.
template <class Visit>
void for_each_character(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const size_t num_bytes = utf8::decode(text, 0).num_bytes;
    visit(text.substr(0, num_bytes));
    text.remove_prefix(num_bytes);
  }
}

// Simple case mapping of all of Unicode, one code point to one.
std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string capitalize(std::string_view text);  // first character upper, the others lower
bool is_alpha(char32_t code_point);
bool is_upper(char32_t code_point);
bool is_lower(char32_t code_point);

// Takes the first line off `text` and returns it without its end (one of Python's line ends).
std::string_view take_line(std::string_view& text);

}  // namespace evener::chat::jinja
