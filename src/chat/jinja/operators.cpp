#include "chat/jinja/operators.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "base/utf8.h"
#include "chat/jinja/compare.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/percent_format.h"
#include "chat/jinja/text.h"

namespace evener::chat::jinja {
namespace {

using Math = ast::Arithmetic::Operator;

constexpr const char* kOperatorSymbols[] = {"+", "-", "*", "/", "//", "%", "**"};

Error overflow() { return refuse("a number leaves the range of 64-bit integers"); }
Error division_by_zero() { return refuse("division by zero"); }

// Python's: the remainder has the sign of the divisor.
int64_t floor_modulo(int64_t a, int64_t b) {
  const int64_t rest = b == -1 ? 0 : a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double floor_modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Result<Value> integer_power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return overflow();
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return overflow();
  }
  return Value::integer(result);
}

Result<Value> real_math(Math op, double a, double b) {
  switch (op) {
    case Math::add:
      return Value::real(a + b);
    case Math::subtract:
      return Value::real(a - b);
    case Math::multiply:
      return Value::real(a * b);
    case Math::power:
      return Value::real(std::pow(a, b));
    case Math::divide:
    case Math::floor_divide:
    case Math::modulo:
      break;
  }
  if (b == 0) return division_by_zero();
  if (op == Math::divide) return Value::real(a / b);
  return Value::real(op == Math::modulo ? floor_modulo(a, b) : std::floor(a / b));
}

Result<Value> integer_math(Math op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case Math::add:
      return __builtin_add_overflow(a, b, &result) ? Result<Value>(overflow())
                                                   : Value::integer(result);
    case Math::subtract:
      return __builtin_sub_overflow(a, b, &result) ? Result<Value>(overflow())
                                                   : Value::integer(result);
    case Math::multiply:
      return __builtin_mul_overflow(a, b, &result) ? Result<Value>(overflow())
                                                   : Value::integer(result);
    case Math::power:
      if (b >= 0) return integer_power(a, b);
      if (a == 0) return division_by_zero();
      return Value::real(std::pow(static_cast<double>(a), static_cast<double>(b)));
    case Math::divide:
      return real_math(op, static_cast<double>(a), static_cast<double>(b));
    case Math::floor_divide:
    case Math::modulo:
      break;
  }
  if (b == 0) return division_by_zero();
  if (op == Math::modulo) return Value::integer(floor_modulo(a, b));
  if (b == -1) return integer_math(Math::subtract, 0, a);
  return Value::integer(a / b - (floor_modulo(a, b) != 0 && (a < 0) != (b < 0) ? 1 : 0));
}

Result<Value> repeat_text(Context& context, const std::string& text, int64_t count) {
  if (count <= 0 || text.empty()) return make_string(context.budget, "");
  const size_t limit = context.budget.limits().string_bytes;
  const auto times = static_cast<uint64_t>(count);
  RETURN_IF_ERROR(context.budget.check_string(
      times > limit / text.size() + 1 ? SIZE_MAX : text.size() * static_cast<size_t>(times)));
  std::string out;
  out.reserve(text.size() * static_cast<size_t>(times));
  if (text.size() == 1) {
    out.assign(static_cast<size_t>(times), text[0]);
  } else {
    for (uint64_t i = 0; i < times; ++i) out += text;
  }
  return make_string(context.budget, std::move(out));
}

Result<Value> repeat_list(Context& context, const List& list, int64_t count) {
  const size_t limit = context.budget.limits().num_elements;
  const auto times = static_cast<uint64_t>(std::max<int64_t>(count, 0));
  if (!list.items.empty()) {
    RETURN_IF_ERROR(context.budget.check_elements(
        times > limit / list.items.size() + 1 ? SIZE_MAX : list.items.size() * times));
  }
  std::vector<Value> items;
  for (uint64_t i = 0; i < times && !list.items.empty(); ++i) {
    items.insert(items.end(), list.items.begin(), list.items.end());
  }
  return list.is_tuple ? make_tuple(context.budget, std::move(items))
                       : make_list(context.budget, std::move(items));
}

Result<Value> join_lists(Context& context, const List& a, const List& b) {
  RETURN_IF_ERROR(context.budget.check_elements(a.items.size() + b.items.size()));
  std::vector<Value> items = a.items;
  items.insert(items.end(), b.items.begin(), b.items.end());
  return a.is_tuple ? make_tuple(context.budget, std::move(items))
                    : make_list(context.budget, std::move(items));
}

Error no_operator(Math op, const Value& a, const Value& b) {
  return refuse(fmt::format("{} does not work between {} and {}",
                            kOperatorSymbols[static_cast<size_t>(op)], a.type(), b.type()));
}

}  // namespace

Error undefined_error(const Value& value) {
  const Undefined* undefined = value.as<Undefined>();
  if (undefined == nullptr || undefined->name == nullptr) return refuse("a value is undefined");
  return refuse(fmt::format("'{}' is undefined", printable(*undefined->name, 60)));
}

Result<Value> arithmetic(Context& context, Math op, const Value& a, const Value& b) {
  if (a.is_undefined()) return undefined_error(a);
  if (op == Math::modulo && a.text() != nullptr)
    return percent_format(context.budget, *a.text(), b);
  if (b.is_undefined()) return undefined_error(b);
  const auto a_integer = as_integer(a);
  const auto b_integer = as_integer(b);
  if (a_integer && b_integer) return integer_math(op, *a_integer, *b_integer);
  const auto a_number = as_number(a);
  const auto b_number = as_number(b);
  if (a_number && b_number) return real_math(op, *a_number, *b_number);
  if (op == Math::multiply) {
    if (a.text() != nullptr && b_integer) return repeat_text(context, *a.text(), *b_integer);
    if (b.text() != nullptr && a_integer) return repeat_text(context, *b.text(), *a_integer);
    if (a.list() != nullptr && b_integer) return repeat_list(context, *a.list(), *b_integer);
  }
  if (op == Math::add) {
    if (a.text() != nullptr && b.text() != nullptr) {
      RETURN_IF_ERROR(context.budget.check_string(a.text()->size() + b.text()->size()));
      return make_string(context.budget, *a.text() + *b.text());
    }
    const bool lists = a.list() != nullptr && b.list() != nullptr;
    if (lists && a.list()->is_tuple == b.list()->is_tuple) {
      return join_lists(context, *a.list(), *b.list());
    }
  }
  return no_operator(op, a, b);
}

Result<Value> negate(const Value& operand) {
  if (const auto number = as_integer(operand)) return integer_math(Math::subtract, 0, *number);
  if (const double* number = operand.as<double>()) return Value::real(-*number);
  if (operand.is_undefined()) return undefined_error(operand);
  return refuse(fmt::format("- does not work on {}", operand.type()));
}

Result<Value> plus(const Value& operand) {
  if (const auto number = as_integer(operand)) return Value::integer(*number);
  if (operand.as<double>() != nullptr) return operand;
  if (operand.is_undefined()) return undefined_error(operand);
  return refuse(fmt::format("+ does not work on {}", operand.type()));
}

Result<bool> compare(Budget& budget, ast::Comparison::Operator op, const Value& a, const Value& b) {
  using enum ast::Comparison::Operator;
  if (op == equal || op == not_equal) {
    ASSIGN_OR_RETURN(const bool same, jinja::equal(budget, a, b));
    return same == (op == equal);
  }
  if (op == in || op == not_in) {
    ASSIGN_OR_RETURN(const bool inside, contains(budget, b, a));
    return inside == (op == in);
  }
  if (a.is_undefined()) return undefined_error(a);
  if (b.is_undefined()) return undefined_error(b);
  ASSIGN_OR_RETURN(const std::partial_ordering ordering, order(budget, a, b));
  switch (op) {
    case less:
      return ordering < 0;
    case less_equal:
      return ordering <= 0;
    case greater:
      return ordering > 0;
    default:
      return ordering >= 0;
  }
}

Result<std::vector<Value>> elements(Budget& budget, const Value& value) {
  if (const List* list = value.list()) {
    RETURN_IF_ERROR(budget.work(list->items.size()));
    return list->items;
  }
  std::vector<Value> result;
  if (const std::string* text = value.text()) {
    RETURN_IF_ERROR(budget.check_elements(length(*text)));
    for (size_t i = 0; i < text->size();) {
      const size_t num_bytes = utf8::decode(*text, i).num_bytes;
      ASSIGN_OR_RETURN(Value element, make_string(budget, text->substr(i, num_bytes)));
      result.push_back(std::move(element));
      i += num_bytes;
    }
    return result;
  }
  if (const Dict* dict = value.dict()) {
    RETURN_IF_ERROR(budget.work(dict->size()));
    for (const auto& entry : dict->entries()) result.push_back(entry.first);
    return result;
  }
  if (value.is_undefined()) return result;
  return refuse(fmt::format("a value of type {} has no elements", value.type()));
}

}  // namespace evener::chat::jinja
