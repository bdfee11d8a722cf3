#pragma once

#include <optional>
#include <string>

#include "base/json.h"

namespace evener::bench {

// The first place where `value` is not as `schema` says, in words; nothing if it is. Of JSON Schema
// only what our own tasks use: type (one of them), enum, properties, required,
// additionalProperties: false, items, minItems, maxItems, minimum, maximum.
std::optional<std::string> breaks_schema(const json::Value& schema, const json::Value& value);

// The first of `expected`, an object of JSON pointers to values, that `value` does not have.
std::optional<std::string> lacks_values(const json::Value& expected, const json::Value& value);

// A value for messages, shortened.
std::string shown(const json::Value& value);

}  // namespace evener::bench
