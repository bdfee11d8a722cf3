#pragma once

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace evener::chat::jinja {

inline std::string template_line(int line) { return fmt::format("chat template, line {}", line); }

// A template that cannot be read.
inline Error syntax_error(int line, std::string why) {
  return {.code = Code::corrupt,
          .doing = "read the chat template",
          .where = template_line(line),
          .why = std::move(why),
          .remedy = "give the model another template"};
}

// A template that is right but needs something of Jinja that Evener does not have.
inline Error unsupported_syntax(int line, std::string why) {
  Error error = syntax_error(line, std::move(why));
  error.code = Code::unsupported;
  return error;
}

inline Error template_too_large(int line, std::string why) {
  Error error = syntax_error(line, std::move(why));
  error.code = Code::limit_exceeded;
  return error;
}

}  // namespace evener::chat::jinja
