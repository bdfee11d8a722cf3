// The typed getters of File.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "gguf/file.h"

namespace evener::gguf {
namespace {

std::string type_text(const Value& value) {
  const Array* array = value.as_array();
  if (array == nullptr) return std::string(name(value.type()));
  return fmt::format("array of {}", name(array->element_type()));
}

std::optional<float> finite_float(const Value& value) {
  const auto number = value.as_float();
  if (!number) return std::nullopt;
  const auto narrow = static_cast<float>(*number);
  return std::isfinite(narrow) ? std::optional(narrow) : std::nullopt;
}

bool is_number_array(const Array& array) {
  return array.element_type() != ValueType::string && array.element_type() != ValueType::array;
}

// Every element through `convert`, or nothing if one has no such form.
template <class T, class Convert>
std::optional<std::vector<T>> convert_all(const Array& array, Convert convert) {
  if (!is_number_array(array)) return std::nullopt;
  std::vector<T> values;
  values.reserve(array.size());
  for (size_t i = 0; i < array.size(); ++i) {
    const std::optional<T> value = convert(array[i]);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

auto as_uint_up_to(uint64_t max) {
  return [max](const Value& value) {
    const auto number = value.as_uint();
    return number && *number <= max ? number : std::nullopt;
  };
}

std::string uint_text(uint64_t max) {
  if (max == std::numeric_limits<uint64_t>::max()) return "integer >= 0";
  return fmt::format("integer from 0 to {}", max);
}

}  // namespace

Result<const Value*> File::get(std::string_view key) const {
  const Value* value = find(key);
  if (value != nullptr) return value;
  return key_error(key, "is missing", "the file is incomplete: fetch or convert the model again");
}

Error File::type_error(std::string_view key, const Value& value, std::string_view expected) const {
  std::string shown = type_text(value);
  if (const auto number = value.as_uint()) {
    shown += fmt::format(" {}", *number);
  } else if (const auto negative = value.as_int()) {
    shown += fmt::format(" {}", *negative);
  } else if (const auto real = value.as_float()) {
    shown += fmt::format(" {}", *real);
  }
  return key_error(key, fmt::format("is {}, expected: {}", shown, expected));
}

Result<uint64_t> File::get_uint(std::string_view key, uint64_t max) const {
  ASSIGN_OR_RETURN(const Value* value, get(key));
  const auto number = as_uint_up_to(max)(*value);
  if (!number) return type_error(key, *value, uint_text(max));
  return *number;
}

Result<int64_t> File::get_int(std::string_view key) const {
  ASSIGN_OR_RETURN(const Value* value, get(key));
  const auto number = value->as_int();
  if (!number) return type_error(key, *value, "integer");
  return *number;
}

Result<float> File::get_float(std::string_view key) const {
  ASSIGN_OR_RETURN(const Value* value, get(key));
  const auto number = finite_float(*value);
  if (!number) return type_error(key, *value, "finite float");
  return *number;
}

Result<bool> File::get_bool(std::string_view key) const {
  ASSIGN_OR_RETURN(const Value* value, get(key));
  const auto flag = value->as_bool();
  if (!flag) return type_error(key, *value, "bool");
  return *flag;
}

Result<std::string_view> File::get_string(std::string_view key) const {
  ASSIGN_OR_RETURN(const Value* value, get(key));
  const auto text = value->as_string();
  if (!text) return type_error(key, *value, "string");
  return *text;
}

Result<uint64_t> File::get_uint_or(std::string_view key, uint64_t fallback, uint64_t max) const {
  return has(key) ? get_uint(key, max) : fallback;
}

Result<int64_t> File::get_int_or(std::string_view key, int64_t fallback) const {
  return has(key) ? get_int(key) : fallback;
}

Result<float> File::get_float_or(std::string_view key, float fallback) const {
  return has(key) ? get_float(key) : fallback;
}

Result<bool> File::get_bool_or(std::string_view key, bool fallback) const {
  return has(key) ? get_bool(key) : fallback;
}

Result<std::string_view> File::get_string_or(std::string_view key,
                                             std::string_view fallback) const {
  return has(key) ? get_string(key) : fallback;
}

Result<const Array*> File::get_array(std::string_view key) const {
  ASSIGN_OR_RETURN(const Value* value, get(key));
  const Array* array = value->as_array();
  if (array == nullptr) return type_error(key, *value, "array");
  return array;
}

Result<std::span<const std::string_view>> File::get_strings(std::string_view key) const {
  ASSIGN_OR_RETURN(const Array* array, get_array(key));
  // An empty array has no say about its elements: writers give it any type.
  if (array->element_type() == ValueType::string || array->size() == 0) return array->strings();
  return type_error(key, *find(key), "array of string");
}

Result<std::vector<float>> File::get_floats(std::string_view key) const {
  ASSIGN_OR_RETURN(const Array* array, get_array(key));
  if (array->size() == 0) return std::vector<float>();
  auto values = convert_all<float>(*array, finite_float);
  if (!values) return type_error(key, *find(key), "array of finite float");
  return *std::move(values);
}

Result<std::vector<int64_t>> File::get_ints(std::string_view key) const {
  ASSIGN_OR_RETURN(const Array* array, get_array(key));
  if (array->size() == 0) return std::vector<int64_t>();
  auto values = convert_all<int64_t>(*array, [](const Value& value) { return value.as_int(); });
  if (!values) return type_error(key, *find(key), "array of integer");
  return *std::move(values);
}

Result<std::vector<uint64_t>> File::get_uints(std::string_view key, uint64_t max) const {
  ASSIGN_OR_RETURN(const Array* array, get_array(key));
  if (array->size() == 0) return std::vector<uint64_t>();
  auto values = convert_all<uint64_t>(*array, as_uint_up_to(max));
  if (!values) return type_error(key, *find(key), "array of " + uint_text(max));
  return *std::move(values);
}

Result<std::vector<bool>> File::get_bools(std::string_view key) const {
  ASSIGN_OR_RETURN(const Array* array, get_array(key));
  if (array->size() == 0) return std::vector<bool>();
  auto values = convert_all<bool>(*array, [](const Value& value) { return value.as_bool(); });
  if (!values) return type_error(key, *find(key), "array of bool");
  return *std::move(values);
}

Result<std::vector<uint64_t>> File::get_uints_each(std::string_view key, size_t count,
                                                   uint64_t max) const {
  ASSIGN_OR_RETURN(const Value* value, get(key));
  if (value->as_array() == nullptr) {
    ASSIGN_OR_RETURN(const auto number, get_uint(key, max));
    return std::vector<uint64_t>(count, number);
  }
  ASSIGN_OR_RETURN(auto numbers, get_uints(key, max));
  if (numbers.size() == count) return numbers;
  return key_error(key, fmt::format("has {} values, expected: {}", numbers.size(), count));
}

}  // namespace evener::gguf
