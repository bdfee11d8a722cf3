#include "chat/jinja/globals.h"

#include <fmt/format.h>

#include "chat/jinja/compare.h"
#include "chat/jinja/context.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/function.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/parameters.h"
#include "chat/jinja/print.h"
#include "chat/jinja/strftime.h"

namespace evener::chat::jinja {
namespace {

constexpr size_t kNamespaceBytes = 128;
constexpr size_t kMemberBytes = 64;

Result<int64_t> count_of(int64_t start, int64_t stop, int64_t step) {
  if (step == 0) return refuse("the step of range() cannot be zero");
  const bool empty = step > 0 ? start >= stop : start <= stop;
  if (empty) return 0;
  const auto low = static_cast<uint64_t>(step > 0 ? start : stop);
  const auto high = static_cast<uint64_t>(step > 0 ? stop : start);
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const uint64_t count = (high - low - 1) / stride + 1;
  return static_cast<int64_t>(std::min<uint64_t>(count, INT64_MAX));
}

Result<Value> range(Context& context, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given,
                   Parameters::bind("range", arguments, {"start", "stop", "step"}));
  RETURN_IF_ERROR(given.required(0));
  ASSIGN_OR_RETURN(const int64_t first, given.integer(0, 0));
  ASSIGN_OR_RETURN(const int64_t second, given.integer(1, 0));
  ASSIGN_OR_RETURN(const int64_t step, given.integer(2, 1));
  const int64_t start = given.given(1) ? first : 0;
  const int64_t stop = given.given(1) ? second : first;
  ASSIGN_OR_RETURN(const int64_t count, count_of(start, stop, step));
  RETURN_IF_ERROR(context.budget.check_elements(static_cast<size_t>(count)));
  std::vector<Value> items;
  for (int64_t i = 0; i < count; ++i) items.push_back(Value::integer(start + i * step));
  return make_list(context.budget, std::move(items));
}

// dict(mapping or list of pairs, name=value, ...)
Result<Value> dict(Context& context, const Arguments& arguments) {
  std::vector<std::pair<Value, Value>> entries;
  if (arguments.positional.size() > 1) return refuse("dict() takes at most 1 positional argument");
  if (!arguments.positional.empty()) {
    const Value& source = arguments.positional[0];
    if (source.dict() != nullptr) {
      entries = source.dict()->entries();
    } else {
      ASSIGN_OR_RETURN(const std::vector<Value> pairs, elements(context.budget, source));
      for (const Value& pair : pairs) {
        ASSIGN_OR_RETURN(std::vector<Value> parts, elements(context.budget, pair));
        if (parts.size() != 2) return refuse("dict() needs pairs of key and value");
        entries.emplace_back(std::move(parts[0]), std::move(parts[1]));
      }
    }
  }
  for (const auto& [name, value] : arguments.named) {
    ASSIGN_OR_RETURN(Value key, make_string(context.budget, name));
    entries.emplace_back(std::move(key), value);
  }
  return make_dict(context.budget, std::move(entries));
}

Result<Value> make_namespace(Context& context, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Value initial, dict(context, arguments));
  const auto& entries = initial.dict()->entries();
  RETURN_IF_ERROR(context.budget.take(kNamespaceBytes + entries.size() * kMemberBytes));
  Namespace names;
  for (const auto& [key, value] : entries) {
    if (key.text() == nullptr) return refuse("the names in a namespace must be strings");
    names.members.emplace_back(*key.text(), value);
  }
  return Value(Value::Held(&context.namespaces.emplace_back(std::move(names))));
}

Result<Value> raise_exception(Context& context, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given,
                   Parameters::bind("raise_exception", arguments, {"message"}));
  ASSIGN_OR_RETURN(std::string message, to_text(context.budget, given[0]));
  return refuse(std::move(message));
}

Result<Value> strftime_now(Context& context, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind("strftime_now", arguments, {"format"}));
  RETURN_IF_ERROR(given.required(0));
  ASSIGN_OR_RETURN(const std::string_view format, given.text(0, ""));
  RETURN_IF_ERROR(context.budget.bytes_work(format.size()));
  return make_string(context.budget, format_time(format, context.now));
}

constexpr Function::BuiltIn kFunctions[] = {
    {"range", range},
    {"dict", dict},
    {"namespace", make_namespace},
    {"raise_exception", raise_exception},
    {"strftime_now", strftime_now},
};

}  // namespace

void set_globals(Scope& scope) {
  for (const Function::BuiltIn& built_in : kFunctions) {
    scope.set(built_in.name, Value(Value::Held(std::make_shared<const Function>(built_in))));
  }
}

}  // namespace evener::chat::jinja
