#include "chat/jinja/from_json.h"

#include <fmt/format.h>

#include <utility>

#include "chat/jinja/failure.h"

namespace evener::chat::jinja {
namespace {

using Json = nlohmann::ordered_json;

Result<Value> convert(Budget& budget, const Json& json, size_t depth);

Result<Value> convert_array(Budget& budget, const Json& json, size_t depth) {
  std::vector<Value> items;
  for (const Json& element : json) {
    ASSIGN_OR_RETURN(Value item, convert(budget, element, depth + 1));
    items.push_back(std::move(item));
  }
  return make_list(budget, std::move(items));
}

Result<Value> convert_object(Budget& budget, const Json& json, size_t depth) {
  std::vector<std::pair<Value, Value>> entries;
  for (const auto& [name, element] : json.items()) {
    ASSIGN_OR_RETURN(Value key, make_string(budget, name));
    ASSIGN_OR_RETURN(Value value, convert(budget, element, depth + 1));
    entries.emplace_back(std::move(key), std::move(value));
  }
  return make_dict(budget, std::move(entries));
}

Value convert_unsigned(uint64_t number) {
  if (std::in_range<int64_t>(number)) return Value::integer(static_cast<int64_t>(number));
  return Value::real(static_cast<double>(number));
}

Result<Value> convert(Budget& budget, const Json& json, size_t depth) {
  if (depth > budget.limits().value_depth) {
    return too_much(
        fmt::format("the conversation nests deeper than {}", budget.limits().value_depth));
  }
  RETURN_IF_ERROR(budget.work());
  switch (json.type()) {
    case Json::value_t::null:
      return Value::none();
    case Json::value_t::boolean:
      return Value::boolean(json.get<bool>());
    case Json::value_t::number_integer:
      return Value::integer(json.get<int64_t>());
    case Json::value_t::number_unsigned:
      return convert_unsigned(json.get<uint64_t>());
    case Json::value_t::number_float:
      return Value::real(json.get<double>());
    case Json::value_t::string:
      return make_string(budget, json.get_ref<const std::string&>());
    case Json::value_t::array:
      return convert_array(budget, json, depth);
    case Json::value_t::object:
      return convert_object(budget, json, depth);
    case Json::value_t::binary:
    case Json::value_t::discarded:
      break;
  }
  return refuse("the conversation holds a value that JSON does not have");
}

}  // namespace

Result<Value> from_json(Budget& budget, const Json& json) { return convert(budget, json, 0); }

}  // namespace evener::chat::jinja
