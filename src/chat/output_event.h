#pragma once

#include <string>

namespace evener::chat {

// One piece of a model's answer, sorted by what it is.
struct OutputEvent {
  enum class Kind {
    content,         // text for the user
    reasoning,       // text of the thinking part, without its marks
    tool_call,       // a tool call begins: `tool_index` and `tool_name` are set, `text` is empty
    tool_arguments,  // a further piece of the JSON arguments of call `tool_index`
  };

  Kind kind = Kind::content;
  std::string text;       // never empty for content, reasoning and tool_arguments
  int tool_index = 0;     // 0 for the first call of the answer
  std::string tool_name;  // the function's name

  bool operator==(const OutputEvent&) const = default;
};

}  // namespace evener::chat
