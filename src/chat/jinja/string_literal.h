#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace evener::chat::jinja {

// The text of a string literal without its quotes, backslash escapes resolved as Python does: \n,
// \x41, \u00e9, \U0001f600, \101, a backslash before a line end joins the lines, an unknown escape
// stays as it is. Error: digits missing, no such character. Only `why` is set.
Result<std::string> unescape(std::string_view literal);

// 0..15, or -1.
int hex_digit(char c);

}  // namespace evener::chat::jinja
