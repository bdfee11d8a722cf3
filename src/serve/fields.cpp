#include "serve/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace evener::serve {
namespace {

std::string expected(std::string_view wanted, const Json& got) {
  return fmt::format("must be {}, not {}", wanted, kind_of(got));
}

// JSON writers of some languages send 5.0 for 5.
std::optional<int64_t> whole_number(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > uint64_t{INT64_MAX}) return INT64_MAX;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const auto number = value.get<double>();
  constexpr double kExact = 9007199254740992;  // 2^53: all whole doubles below are exact
  if (!(number >= -kExact && number <= kExact)) return std::nullopt;
  const auto whole = static_cast<int64_t>(number);
  if (static_cast<double>(whole) != number) return std::nullopt;
  return whole;
}

}  // namespace

std::string_view kind_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    default:
      return "a number";
  }
}

Fields::Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {}

const Json* Fields::find(std::string_view name) const {
  if (!object_.is_object()) return nullptr;
  const auto& fields = object_.get_ref<const Json::object_t&>();
  const auto found = std::ranges::find(
      fields, name, [](const auto& field) { return std::string_view(field.first); });
  if (found == fields.end() || found->second.is_null()) return nullptr;
  return &found->second;
}

std::optional<bool> Fields::boolean(std::string_view name) {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  invalid(name, expected("a boolean", *value));
  return std::nullopt;
}

std::optional<int64_t> Fields::integer(std::string_view name, IntegerRange range) {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  const auto number = whole_number(*value);
  if (!number) {
    invalid(name,
            value->is_number() ? "must be a whole number" : expected("a whole number", *value));
    return std::nullopt;
  }
  if (*number >= range.min && *number <= range.max) return number;
  invalid(name,
          range.max == INT64_MAX
              ? fmt::format("must be at least {}, not {}", range.min, *number)
              : fmt::format("must be between {} and {}, not {}", range.min, range.max, *number));
  return std::nullopt;
}

std::optional<double> Fields::number(std::string_view name, NumberRange range) {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_number()) {
    invalid(name, expected("a number", *value));
    return std::nullopt;
  }
  const auto number = value->get<double>();
  if (number >= range.min && number <= range.max) return number;
  invalid(name, fmt::format("must be between {} and {}, not {}", range.min, range.max, number));
  return std::nullopt;
}

std::optional<std::string> Fields::string(std::string_view name, size_t bytes_max) {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_string()) {
    invalid(name, expected("a string", *value));
    return std::nullopt;
  }
  const auto& text = value->get_ref<const std::string&>();
  if (text.size() <= bytes_max) return text;
  invalid(name, fmt::format("must have at most {} bytes, not {}", bytes_max, text.size()));
  return std::nullopt;
}

std::optional<std::string> Fields::choice(std::string_view name,
                                          std::initializer_list<std::string_view> allowed) {
  const Json* value = find(name);
  if (!value) return std::nullopt;
  if (value->is_string() &&
      std::ranges::find(allowed, value->get_ref<const std::string&>()) != allowed.end()) {
    return value->get<std::string>();
  }
  invalid(name, fmt::format("must be one of {}", fmt::join(allowed, ", ")));
  return std::nullopt;
}

std::vector<std::string> Fields::strings(std::string_view name, StringLimits limits) {
  const Json* value = find(name);
  if (!value) return {};
  std::vector<std::string> out;
  const auto add = [&](const Json& item) {
    if (!item.is_string()) return false;
    out.push_back(item.get<std::string>());
    return !out.back().empty() && out.back().size() <= limits.bytes_max;
  };
  bool good = true;
  if (value->is_array()) {
    good = value->size() <= limits.count_max && std::ranges::all_of(*value, add);
  } else {
    good = add(*value);
  }
  if (good) return out;
  invalid(name, fmt::format("must be a string or a list of up to {} strings, each of 1 to {} bytes",
                            limits.count_max, limits.bytes_max));
  return {};
}

const Json* Fields::object(std::string_view name) {
  const Json* value = find(name);
  if (!value || value->is_object()) return value;
  invalid(name, expected("an object", *value));
  return nullptr;
}

const Json* Fields::array(std::string_view name, size_t count_max) {
  const Json* value = find(name);
  if (!value) return nullptr;
  if (!value->is_array()) {
    invalid(name, expected("a list", *value));
    return nullptr;
  }
  if (value->size() <= count_max) return value;
  invalid(name, fmt::format("must have at most {} entries, not {}", count_max, value->size()));
  return nullptr;
}

std::string Fields::path_of(std::string_view name) const { return path_ + std::string(name); }

void Fields::fail(ApiError error) {
  if (!error_) error_ = std::move(error);
}

void Fields::invalid(std::string_view name, std::string message) {
  std::string param = path_of(name);
  std::string text = fmt::format("{} {}", param, message);
  fail(invalid_value(std::move(param), std::move(text)));
}

}  // namespace evener::serve
