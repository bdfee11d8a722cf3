#include "chat/jinja/predicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "chat/jinja/compare.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/parameters.h"
#include "chat/jinja/text.h"

namespace evener::chat::jinja {
namespace {

using Comparison = ast::Comparison::Operator;
using Check = bool (*)(const Value&);

bool is_defined(const Value& v) { return !v.is_undefined(); }
bool is_undefined(const Value& v) { return v.is_undefined(); }
bool is_none(const Value& v) { return v.is_none(); }
bool is_boolean(const Value& v) { return v.as<bool>() != nullptr; }
bool is_true(const Value& v) { return v.as<bool>() != nullptr && *v.as<bool>(); }
bool is_false(const Value& v) { return v.as<bool>() != nullptr && !*v.as<bool>(); }
bool is_integer(const Value& v) { return v.as<int64_t>() != nullptr; }
bool is_float(const Value& v) { return v.as<double>() != nullptr; }
bool is_number(const Value& v) { return v.is_number() || is_boolean(v); }
bool is_string(const Value& v) { return v.text() != nullptr; }
bool is_mapping(const Value& v) { return v.dict() != nullptr; }
// Python's own: mappings and strings are sequences too, and undefined counts as an empty one.
bool is_sequence(const Value& v) {
  return v.list() != nullptr || v.dict() != nullptr || is_string(v) || v.is_undefined();
}
bool is_iterable(const Value& v) { return is_sequence(v) || v.loop() != nullptr; }
bool is_callable(const Value& v) { return v.function() != nullptr || v.is_undefined(); }

constexpr std::pair<std::string_view, Check> kChecks[] = {
    {"defined", is_defined},   {"undefined", is_undefined}, {"none", is_none},
    {"boolean", is_boolean},   {"true", is_true},           {"false", is_false},
    {"integer", is_integer},   {"float", is_float},         {"number", is_number},
    {"string", is_string},     {"mapping", is_mapping},     {"sequence", is_sequence},
    {"iterable", is_iterable}, {"callable", is_callable},
};

constexpr std::pair<std::string_view, Comparison> kComparisons[] = {
    {"eq", Comparison::equal},         {"equalto", Comparison::equal},
    {"==", Comparison::equal},         {"ne", Comparison::not_equal},
    {"!=", Comparison::not_equal},     {"lt", Comparison::less},
    {"lessthan", Comparison::less},    {"<", Comparison::less},
    {"le", Comparison::less_equal},    {"<=", Comparison::less_equal},
    {"gt", Comparison::greater},       {"greaterthan", Comparison::greater},
    {">", Comparison::greater},        {"ge", Comparison::greater_equal},
    {">=", Comparison::greater_equal}, {"in", Comparison::in},
};

Result<bool> divisible(const Value& value, const Value& divisor) {
  const auto a = as_integer(value);
  const auto b = as_integer(divisor);
  if (!a || !b) return refuse(fmt::format("a value of type {} has no remainder", value.type()));
  if (*b == 0) return refuse("division by zero");
  return *b == -1 || *a % *b == 0;
}

// lower and upper: some letter has that case and none the other.
Result<bool> has_case(Context& context, const Value& value, bool wants_upper) {
  if (value.text() == nullptr) return false;
  const std::string& text = *value.text();
  RETURN_IF_ERROR(context.budget.bytes_work(text.size()));
  return text == (wants_upper ? upper(text) : lower(text)) &&
         text != (wants_upper ? lower(text) : upper(text));
}

Result<bool> is_same(Context& context, const Value& a, const Value& b) {
  if (a.held().index() != b.held().index()) return false;
  return equal(context.budget, a, b);
}

Result<bool> one_argument_test(Context& context, std::string_view name, const Value& value,
                               const Value& argument) {
  for (const auto& [known, op] : kComparisons) {
    if (name == known) return compare(context.budget, op, value, argument);
  }
  if (name == "divisibleby") return divisible(value, argument);
  if (name == "sameas") return is_same(context, value, argument);
  return lacking(fmt::format("there is no test '{}'", printable(name, 60)));
}

}  // namespace

Result<bool> apply_test(Context& context, std::string_view name, const Value& value,
                        const Arguments& arguments) {
  RETURN_IF_ERROR(context.budget.work());
  for (const auto& [known, check] : kChecks) {
    if (name != known) continue;
    RETURN_IF_ERROR(Parameters::bind(name, arguments, {}));
    return check(value);
  }
  if (name == "odd" || name == "even") {
    ASSIGN_OR_RETURN(const bool even, divisible(value, Value::integer(2)));
    return even == (name == "even");
  }
  if (name == "upper" || name == "lower") return has_case(context, value, name == "upper");
  if (name == "filter") return value.text() != nullptr && find_filter(*value.text()) != nullptr;
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind(name, arguments, {"other"}));
  return one_argument_test(context, name, value, given[0]);
}

}  // namespace evener::chat::jinja
