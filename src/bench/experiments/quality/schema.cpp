#include "bench/experiments/quality/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace evener::bench {
namespace {

using json::Value;

bool has_type(const Value& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  return false;
}

using Problem = std::optional<std::string>;
Problem check(const Value& schema, const Value& value, const std::string& place);

Problem check_object(const Value& schema, const Value& value, const std::string& place) {
  for (const Value& name : schema.value("required", Value::array())) {
    if (!value.contains(name))
      return fmt::format("{}/{} is missing", place, name.get<std::string>());
  }
  const Value properties = schema.value("properties", Value::object());
  for (const auto& [name, inner] : value.items()) {
    const std::string inner_place = fmt::format("{}/{}", place, printable(name, 40));
    const auto property = properties.find(name);
    if (property == properties.end()) {
      if (!schema.value("additionalProperties", true))
        return fmt::format("{} is not asked for", inner_place);
    } else if (auto problem = check(*property, inner, inner_place)) {
      return problem;
    }
  }
  return std::nullopt;
}

Problem check_array(const Value& schema, const Value& value, const std::string& place) {
  if (value.size() < schema.value("minItems", size_t{0}))
    return fmt::format("{} has {} items, fewer than {}", place, value.size(),
                       schema.value("minItems", size_t{0}));
  if (value.size() > schema.value("maxItems", value.size()))
    return fmt::format("{} has {} items, more than {}", place, value.size(),
                       schema.value("maxItems", size_t{0}));
  const auto items = schema.find("items");
  if (items == schema.end()) return std::nullopt;
  for (size_t i = 0; i < value.size(); ++i) {
    if (auto problem = check(*items, value[i], fmt::format("{}/{}", place, i))) return problem;
  }
  return std::nullopt;
}

Problem check(const Value& schema, const Value& value, const std::string& place) {
  const std::string name = place.empty() ? "the answer" : place;
  if (schema.contains("type")) {
    const std::string type = schema["type"].get<std::string>();
    if (!has_type(value, type))
      return fmt::format("{} is {}, not of type {}", name, json::kind(value), type);
  }
  if (const auto allowed = schema.find("enum"); allowed != schema.end()) {
    if (std::find(allowed->begin(), allowed->end(), value) == allowed->end())
      return fmt::format("{} is {}, none of {}", name, shown(value), shown(*allowed));
  }
  if (value.is_number()) {
    const double number = value.get<double>();
    if (number < schema.value("minimum", number) || number > schema.value("maximum", number))
      return fmt::format("{} is {}, out of range", name, shown(value));
  }
  if (value.is_object()) return check_object(schema, value, place);
  if (value.is_array()) return check_array(schema, value, place);
  return std::nullopt;
}

}  // namespace

std::string shown(const Value& value) {
  return printable(value.dump(-1, ' ', false, Value::error_handler_t::replace), 60);
}

std::optional<std::string> breaks_schema(const Value& schema, const Value& value) {
  return check(schema, value, "");
}

std::optional<std::string> lacks_values(const Value& expected, const Value& value) {
  for (const auto& [place, wanted] : expected.items()) {
    const Value::json_pointer pointer(place);
    if (!value.contains(pointer)) return fmt::format("{} is missing", place);
    if (value[pointer] != wanted)
      return fmt::format("{} is {}, not {}", place, shown(value[pointer]), shown(wanted));
  }
  return std::nullopt;
}

}  // namespace evener::bench
