#pragma once

#include <string>

#include "base/error.h"

namespace evener::chat::jinja {

// Errors of a template without its line, which the interpreter fills into `where`.

// The template or the conversation asked for something impossible.
inline Error refuse(std::string why) {
  return {.code = Code::invalid_argument,
          .doing = "apply the chat template",
          .where = "",
          .why = std::move(why),
          .remedy = ""};
}

// Jinja has it, Evener does not.
inline Error lacking(std::string why) {
  return {.code = Code::unsupported,
          .doing = "apply the chat template",
          .where = "",
          .why = std::move(why),
          .remedy = "use another template that does without it"};
}

inline Error too_much(std::string why) {
  return {.code = Code::limit_exceeded,
          .doing = "apply the chat template",
          .where = "",
          .why = std::move(why),
          .remedy = "use a shorter conversation or a simpler template"};
}

}  // namespace evener::chat::jinja
