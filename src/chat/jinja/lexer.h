#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "chat/jinja/token.h"
#include "chat/template_limits.h"

namespace evener::chat::jinja {

// Splits a template into tokens; the last one is Kind::end. Whitespace control is that of Jinja
// with trim_blocks and lstrip_blocks on: a newline directly behind %} or #} goes, and so does the
// indentation before {% or {# when nothing else stands before it on its line; {%- -%} take all
// whitespace on their side, {%+ +%} keep it. Line ends become \n, one at the very end goes.
//
// Errors: corrupt or limit_exceeded, with the line.
Result<std::vector<Token>> tokenize(std::string_view source, const TemplateLimits& limits);

}  // namespace evener::chat::jinja
