#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "chat/jinja/compare.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/parameters.h"
#include "chat/jinja/text.h"

namespace evener::chat::jinja {
namespace {

constexpr int64_t kRoundPrecisionMax = 300;

std::optional<double> parse_real(std::string_view text) {
  text = strip(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end ? std::optional(value) : std::nullopt;
}

std::optional<int64_t> parse_integer(std::string_view text, int base) {
  text = strip(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  const bool prefixed = text.size() > 2 && text[0] == '0';
  const char prefix = prefixed ? static_cast<char>(text[1] | 0x20) : '\0';
  if ((base == 16 && prefix == 'x') || (base == 8 && prefix == 'o') ||
      (base == 2 && prefix == 'b')) {
    text.remove_prefix(2);
  }
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, base);
  return result.ec == std::errc() && result.ptr == end ? std::optional(value) : std::nullopt;
}

std::optional<int64_t> truncated(double number) {
  if (!(std::abs(number) < 9.2e18)) return std::nullopt;
  return static_cast<int64_t>(number);
}

// What cannot be read as a number gives `default`, which is 0.
Result<Value> to_int(Context&, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind("int", arguments, {"default", "base"}));
  ASSIGN_OR_RETURN(const int64_t base, given.integer(1, 10));
  if (base < 2 || base > 36) return refuse("int() needs a base of 2 to 36");
  std::optional<int64_t> number = as_integer(input);
  if (const double* real = input.as<double>()) number = truncated(*real);
  if (const std::string* text = input.text()) {
    number = parse_integer(*text, static_cast<int>(base));
    const auto real = parse_real(*text);
    if (!number && real) number = truncated(*real);
  }
  if (number) return Value::integer(*number);
  if (input.is_undefined()) return undefined_error(input);
  return given.given(0) ? given[0] : Value::integer(0);
}

Result<Value> to_float(Context&, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind("float", arguments, {"default"}));
  std::optional<double> number = as_number(input);
  if (const std::string* text = input.text()) number = parse_real(*text);
  if (number) return Value::real(*number);
  if (input.is_undefined()) return undefined_error(input);
  return given.given(0) ? given[0] : Value::real(0);
}

Result<Value> absolute(Context&, const Value& input, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("abs", arguments, {}));
  if (const double* real = input.as<double>()) return Value::real(std::abs(*real));
  const auto number = as_integer(input);
  if (number && *number < 0) return negate(input);
  return plus(input);
}

// To the nearest, ties to the even digit, as the decimal digits of the double say.
double round_to_even(double number, int precision) {
  if (precision < 0) {
    const double scale = std::pow(10.0, -precision);
    return std::nearbyint(number / scale) * scale;
  }
  return parse_real(fmt::format("{:.{}f}", number, precision)).value_or(number);
}

Result<Value> round(Context&, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given,
                   Parameters::bind("round", arguments, {"precision", "method"}));
  ASSIGN_OR_RETURN(const int64_t precision, given.integer(0, 0));
  ASSIGN_OR_RETURN(const std::string_view method, given.text(1, "common"));
  const auto number = as_number(input);
  if (!number) {
    if (input.is_undefined()) return undefined_error(input);
    return refuse(fmt::format("a value of type {} cannot be rounded", input.type()));
  }
  if (std::abs(precision) > kRoundPrecisionMax)
    return too_much("the precision of round() is too large");
  if (method == "common") {
    if (as_integer(input) && precision >= 0) return plus(input);
    const double rounded = round_to_even(*number, static_cast<int>(precision));
    const auto whole = as_integer(input) ? truncated(rounded) : std::nullopt;
    return whole ? Value::integer(*whole) : Value::real(rounded);
  }
  if (method != "ceil" && method != "floor") {
    return refuse("the method of round() is 'common', 'ceil' or 'floor'");
  }
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = *number * scale;
  return Value::real((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

constexpr Filter kNumberFilters[] = {
    {"int", to_int},
    {"float", to_float},
    {"abs", absolute},
    {"round", round},
};

}  // namespace

std::span<const Filter> number_filters() { return kNumberFilters; }

}  // namespace evener::chat::jinja
