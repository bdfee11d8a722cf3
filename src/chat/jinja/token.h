#pragma once

#include <cstdint>
#include <string>

namespace evener::chat::jinja {

// One piece of a template's text.
struct Token {
  enum class Kind {
    text,          // what stands between the tags, whitespace control applied
    output_begin,  // {{
    output_end,    // }}
    block_begin,   // {%
    block_end,     // %}
    name,
    string,   // value: the string itself, escapes resolved
    integer,  // value: its digits in base 10, 16, 8 or 2 with prefix
    real,
    symbol,  // an operator or bracket
    end,
  };

  Kind kind = Kind::end;
  std::string value;
  int line = 1;

  bool is_symbol(const char* symbol) const { return kind == Kind::symbol && value == symbol; }
  bool is_name(const char* name) const { return kind == Kind::name && value == name; }
};

}  // namespace evener::chat::jinja
