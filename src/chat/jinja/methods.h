#pragma once

#include <span>
#include <string_view>

#include "chat/jinja/context.h"
#include "chat/jinja/function.h"

namespace evener::chat::jinja {

struct Method {
  std::string_view name;
  Result<Value> (*run)(Context&, const Value& self, const Arguments&);
};

// By the type of `self`.
std::span<const Method> string_methods();
std::span<const Method> list_methods();
std::span<const Method> dict_methods();
std::span<const Method> loop_methods();

// str.replace(), also a filter.
Result<Value> replace_text(Context& context, const Value& self, const Arguments& arguments);

}  // namespace evener::chat::jinja
