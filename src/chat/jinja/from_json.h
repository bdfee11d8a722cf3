#pragma once

#include <nlohmann/json.hpp>

#include "chat/jinja/value.h"

namespace evener::chat::jinja {

// JSON as a value, keys in their order. Integers beyond 64 bits with sign become floats.
// Error: nested deeper than the limit, too large.
Result<Value> from_json(Budget& budget, const nlohmann::ordered_json& json);

}  // namespace evener::chat::jinja
