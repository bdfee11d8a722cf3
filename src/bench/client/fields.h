#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

// What a server's JSON holds, where it holds it. Servers leave fields out, send null, and send
// numbers as doubles: what is of another kind counts as absent.

namespace evener::bench {

const json::Value* find_object(const json::Value& object, std::string_view name);
const json::Value* find_array(const json::Value& object, std::string_view name);
const std::string* find_string(const json::Value& object, std::string_view name);
std::optional<uint64_t> find_uint(const json::Value& object, std::string_view name);
std::optional<double> find_number(const json::Value& object, std::string_view name);

// "error" (an object with a message, or a text), "message" or "detail", as a line that may be
// printed; empty if there is none of them.
std::string server_message(const json::Value& body);

}  // namespace evener::bench
