#pragma once

#include <string>

#include "chat/jinja/value.h"

namespace evener::chat::jinja {

// Python's str(value) as {{ }} prints it: "None", "True", "1e+16", "['a', {'b': 1.0}]"; nothing for
// an undefined value.
Result<std::string> to_text(Budget& budget, const Value& value);

// Python's repr(value): strings in quotes.
Result<std::string> to_repr(Budget& budget, const Value& value);

// Python's repr(float): the shortest digits that read back as the same number.
std::string float_text(double number);

struct JsonStyle {
  int64_t indent = -1;  // spaces a level; negative: all on one line
  bool ascii_only = false;
  bool sort_keys = false;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};

// Python's json.dumps(value). Error: functions, namespaces and undefined values have no JSON.
Result<std::string> to_json(Budget& budget, const Value& value, const JsonStyle& style);

}  // namespace evener::chat::jinja
