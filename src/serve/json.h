#pragma once

#include <cstddef>
#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "serve/api_error.h"

namespace evener::serve {

// Keeps the order of keys: tools and template variables reach the prompt as they were sent.
using Json = nlohmann::ordered_json;

struct JsonLimits {
  size_t depth = 64;
  size_t num_values = 2'000'000;  // a parsed value takes up to some hundred bytes
};

// Parses a request's body, which must be one JSON object in valid UTF-8 without duplicate keys.
// Takes time and memory linear in the body's size. Errors: 400 saying what is wrong and where.
std::expected<Json, ApiError> parse_object(std::string_view body, JsonLimits limits = {});

// Compact text. Strings that are not valid UTF-8 get U+FFFD for what is wrong.
std::string dump(const Json& json);

}  // namespace evener::serve
