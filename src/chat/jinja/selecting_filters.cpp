#include <algorithm>

#include "chat/jinja/compare.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/predicates.h"

namespace evener::chat::jinja {
namespace {

// "name", further arguments: what map, select and their like apply to each element.
struct Applied {
  std::string_view name;  // empty: none was given
  Arguments arguments;
};

Result<Applied> applied(const Arguments& arguments, size_t skipped) {
  Applied result{.name = {}, .arguments = {.positional = {}, .named = arguments.named}};
  if (arguments.positional.size() <= skipped) return result;
  const std::string* name = arguments.positional[skipped].text();
  if (name == nullptr) return refuse("the name of a filter or test must be a string");
  result.name = *name;
  result.arguments.positional.assign(
      arguments.positional.begin() + static_cast<ptrdiff_t>(skipped) + 1,
      arguments.positional.end());
  return result;
}

Result<Value> map_attribute(Context& context, const std::vector<Value>& values,
                            const Arguments& arguments) {
  Value path;
  Value otherwise;
  for (const auto& [name, value] : arguments.named) {
    if (name == "attribute")
      path = value;
    else if (name == "default")
      otherwise = value;
    else
      return refuse("map() knows the arguments 'attribute' and 'default'");
  }
  std::vector<Value> result;
  for (const Value& item : values) {
    ASSIGN_OR_RETURN(Value value, attribute_of(context, item, path, otherwise));
    result.push_back(std::move(value));
  }
  return make_list(context.budget, std::move(result));
}

Result<Value> map(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const std::vector<Value> values, elements(context.budget, input));
  if (arguments.positional.empty()) {
    if (arguments.named.empty()) return refuse("map() needs a filter or attribute=...");
    return map_attribute(context, values, arguments);
  }
  ASSIGN_OR_RETURN(const Applied filter, applied(arguments, 0));
  std::vector<Value> result;
  for (const Value& item : values) {
    ASSIGN_OR_RETURN(Value value, apply_filter(context, filter.name, item, filter.arguments));
    result.push_back(std::move(value));
  }
  return make_list(context.budget, std::move(result));
}

// Keeps the elements whose value (themselves, or their attribute) passes the test, or is true when
// no test is named; with kKeeps false the others.
template <bool kByAttribute, bool kKeeps>
Result<Value> selected(Context& context, const Value& input, const Arguments& arguments) {
  if (kByAttribute && arguments.positional.empty()) return refuse("an attribute must be named");
  ASSIGN_OR_RETURN(const std::vector<Value> values, elements(context.budget, input));
  ASSIGN_OR_RETURN(const Applied test, applied(arguments, kByAttribute ? 1 : 0));
  std::vector<Value> result;
  for (const Value& item : values) {
    Value tested = item;
    if (kByAttribute) {
      ASSIGN_OR_RETURN(tested, attribute_of(context, item, arguments.positional[0]));
    }
    bool passes = truth(tested);
    if (!test.name.empty()) {
      ASSIGN_OR_RETURN(passes, apply_test(context, test.name, tested, test.arguments));
    }
    if (passes == kKeeps) result.push_back(item);
  }
  return make_list(context.budget, std::move(result));
}

constexpr Filter kSelectingFilters[] = {
    {"map", map},
    {"select", selected<false, true>},
    {"reject", selected<false, false>},
    {"selectattr", selected<true, true>},
    {"rejectattr", selected<true, false>},
};

}  // namespace

std::span<const Filter> selecting_filters() { return kSelectingFilters; }

}  // namespace evener::chat::jinja
