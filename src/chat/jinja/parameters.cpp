#include "chat/jinja/parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "chat/jinja/compare.h"
#include "chat/jinja/failure.h"

namespace evener::chat::jinja {

Result<Parameters> Parameters::bind(std::string_view function, const Arguments& arguments,
                                    std::initializer_list<std::string_view> names) {
  Parameters bound;
  bound.function_ = function;
  bound.names_ = names;
  bound.values_.resize(names.size());
  if (arguments.positional.size() > names.size()) {
    return refuse(fmt::format("{}() takes at most {} arguments, {} were given", function,
                              names.size(), arguments.positional.size()));
  }
  std::copy(arguments.positional.begin(), arguments.positional.end(), bound.values_.begin());
  for (const auto& [name, value] : arguments.named) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      return refuse(fmt::format("{}() has no argument '{}'", function, printable(name)));
    }
    const auto index = static_cast<size_t>(found - names.begin());
    if (index < arguments.positional.size()) {
      return refuse(fmt::format("{}() was given '{}' twice", function, name));
    }
    bound.values_[index] = value;
  }
  return bound;
}

Result<int64_t> Parameters::integer(size_t index, int64_t otherwise) const {
  const Value& value = values_[index];
  if (value.is_undefined()) return otherwise;
  if (const int64_t* number = value.as<int64_t>()) return *number;
  if (const bool* flag = value.as<bool>()) return *flag ? 1 : 0;
  return refuse(fmt::format("argument '{}' of {}() must be an integer, not {}", names_[index],
                            function_, value.type()));
}

Result<std::string_view> Parameters::text(size_t index, std::string_view otherwise) const {
  const Value& value = values_[index];
  if (value.is_undefined()) return otherwise;
  if (const std::string* text = value.text()) return *text;
  return refuse(fmt::format("argument '{}' of {}() must be a string, not {}", names_[index],
                            function_, value.type()));
}

bool Parameters::flag(size_t index, bool otherwise) const {
  return given(index) ? truth(values_[index]) : otherwise;
}

Result<Value> Parameters::required(size_t index) const {
  if (given(index)) return values_[index];
  return refuse(fmt::format("{}() needs the argument '{}'", function_, names_[index]));
}

}  // namespace evener::chat::jinja
