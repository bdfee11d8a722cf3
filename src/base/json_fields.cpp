#include "base/json_fields.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/text.h"

namespace evener::json {

Result<Fields> Fields::of(const Value& value, std::string where) {
  if (value.is_object()) return Fields(value, std::move(where), {});
  return Error{.code = Code::corrupt,
               .doing = "load model",
               .where = std::move(where),
               .why = fmt::format("is {}, not an object", kind(value)),
               .remedy = {}};
}

const Value* Fields::find(std::string_view name) const {
  const auto at = object_->find(name);
  return at == object_->end() || at->is_null() ? nullptr : &*at;
}

Result<const Value*> Fields::get(std::string_view name) const {
  if (const Value* value = find(name)) return value;
  return error(name, "is missing");
}

Error Fields::error(std::string_view name, std::string why, std::string remedy) const {
  return {.code = Code::corrupt,
          .doing = "load model",
          .where = fmt::format("{}, field '{}{}'", where_, prefix_, printable(name, 80)),
          .why = std::move(why),
          .remedy = std::move(remedy)};
}

Error Fields::kind_error(std::string_view name, const Value& value,
                         std::string_view expected) const {
  return error(name, fmt::format("is {}, not {}", kind(value), expected));
}

Result<uint64_t> Fields::checked_uint(std::string_view name, const Value& value,
                                      uint64_t max) const {
  if (!value.is_number_unsigned()) return kind_error(name, value, "a whole number from 0 on");
  const auto number = value.get<uint64_t>();
  if (number <= max) return number;
  return error(name, fmt::format("is {}, at most {} is allowed", number, max));
}

Result<uint64_t> Fields::get_uint(std::string_view name, uint64_t max) const {
  ASSIGN_OR_RETURN(const Value* value, get(name));
  return checked_uint(name, *value, max);
}

Result<uint64_t> Fields::get_uint_or(std::string_view name, uint64_t fallback, uint64_t max) const {
  return has(name) ? get_uint(name, max) : fallback;
}

Result<double> Fields::get_number(std::string_view name) const {
  ASSIGN_OR_RETURN(const Value* value, get(name));
  if (!value->is_number()) return kind_error(name, *value, "a number");
  const auto number = value->get<double>();
  if (std::isfinite(number)) return number;
  return error(name, "is not a finite number");
}

Result<double> Fields::get_number_or(std::string_view name, double fallback) const {
  return has(name) ? get_number(name) : fallback;
}

Result<bool> Fields::get_bool_or(std::string_view name, bool fallback) const {
  const Value* value = find(name);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) return kind_error(name, *value, "true or false");
  return value->get<bool>();
}

Result<std::string_view> Fields::get_string(std::string_view name) const {
  ASSIGN_OR_RETURN(const Value* value, get(name));
  if (!value->is_string()) return kind_error(name, *value, "a text");
  return std::string_view(value->get_ref<const std::string&>());
}

Result<std::string_view> Fields::get_string_or(std::string_view name,
                                               std::string_view fallback) const {
  return has(name) ? get_string(name) : fallback;
}

Result<std::vector<std::string_view>> Fields::get_strings(std::string_view name) const {
  ASSIGN_OR_RETURN(const Value* value, get(name));
  if (!value->is_array()) return kind_error(name, *value, "a list of texts");
  std::vector<std::string_view> texts;
  for (const Value& item : *value) {
    if (!item.is_string()) return kind_error(name, item, "a text, in its list");
    texts.emplace_back(item.get_ref<const std::string&>());
  }
  return texts;
}

Result<std::vector<uint64_t>> Fields::get_uints(std::string_view name, uint64_t max) const {
  ASSIGN_OR_RETURN(const Value* value, get(name));
  if (!value->is_array()) return kind_error(name, *value, "a list of numbers");
  std::vector<uint64_t> numbers;
  for (const Value& item : *value) {
    ASSIGN_OR_RETURN(const uint64_t number, checked_uint(name, item, max));
    numbers.push_back(number);
  }
  return numbers;
}

Result<Fields> Fields::get_object(std::string_view name) const {
  ASSIGN_OR_RETURN(const Value* value, get(name));
  if (!value->is_object()) return kind_error(name, *value, "an object");
  return Fields(*value, where_, fmt::format("{}{}.", prefix_, printable(name, 80)));
}

}  // namespace evener::json
