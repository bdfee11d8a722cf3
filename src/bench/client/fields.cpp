#include "bench/client/fields.h"

#include <cmath>

#include "base/text.h"

namespace evener::bench {
namespace {

constexpr size_t kMessageBytesMax = 300;

const json::Value* find(const json::Value& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(name);
  return at == object.end() ? nullptr : &*at;
}

}  // namespace

const json::Value* find_object(const json::Value& object, std::string_view name) {
  const json::Value* value = find(object, name);
  return value != nullptr && value->is_object() ? value : nullptr;
}

const json::Value* find_array(const json::Value& object, std::string_view name) {
  const json::Value* value = find(object, name);
  return value != nullptr && value->is_array() ? value : nullptr;
}

const std::string* find_string(const json::Value& object, std::string_view name) {
  const json::Value* value = find(object, name);
  return value != nullptr ? value->get_ptr<const std::string*>() : nullptr;
}

std::optional<double> find_number(const json::Value& object, std::string_view name) {
  const json::Value* value = find(object, name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::optional<uint64_t> find_uint(const json::Value& object, std::string_view name) {
  const json::Value* value = find(object, name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  if (value->is_number_unsigned()) return value->get<uint64_t>();
  const auto number = value->get<double>();
  if (number < 0 || number > 0x1p53 || number != std::floor(number)) return std::nullopt;
  return static_cast<uint64_t>(number);
}

std::string server_message(const json::Value& body) {
  for (const std::string_view name : {"error", "message", "detail"}) {
    if (const std::string* text = find_string(body, name)) {
      return printable(*text, kMessageBytesMax);
    }
    const json::Value* inner = find_object(body, name);
    if (inner == nullptr) continue;
    if (const std::string* text = find_string(*inner, "message")) {
      return printable(*text, kMessageBytesMax);
    }
    return printable(inner->dump(), kMessageBytesMax);
  }
  return {};
}

}  // namespace evener::bench
