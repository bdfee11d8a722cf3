#pragma once

#include <string>
#include <string_view>

// Letters and digits of ASCII, whatever the locale.

namespace evener::host {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
constexpr bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
constexpr bool is_alnum(char c) { return is_digit(c) || is_letter(c); }
constexpr bool is_hex_digit(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); }
constexpr int hex_value(char c) { return is_digit(c) ? c - '0' : lower(c) - 'a' + 10; }

inline std::string to_lower(std::string_view text) {
  std::string low(text);
  for (char& c : low) c = lower(c);
  return low;
}

}  // namespace evener::host
