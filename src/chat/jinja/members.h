#pragma once

#include <string>

#include "chat/jinja/context.h"
#include "chat/jinja/function.h"

namespace evener::chat::jinja {

// object.name: a method, else an attribute of a loop or namespace, else object["name"]. Undefined
// when there is nothing of that name; `name` must live in the template's tree.
// Error: `object` is itself undefined; the method exists in Python but not here.
Result<Value> get_attribute(Context& context, const Value& object, const std::string& name);

// object[index]: an element, a character, the value of a key, else as get_attribute.
Result<Value> get_item(Context& context, const Value& object, const Value& index);

// object[start:stop:step] of a list or string; undefined or none stand for parts left out.
struct SliceBounds {
  Value start;
  Value stop;
  Value step;
};
Result<Value> get_slice(Context& context, const Value& object, const SliceBounds& bounds);

// object.name(arguments) when that is a method of a string, list or mapping.
bool has_method(const Value& object, std::string_view name);
Result<Value> call_method(Context& context, const Value& object, std::string_view name,
                          const Arguments& arguments);

}  // namespace evener::chat::jinja
