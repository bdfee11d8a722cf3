#pragma once

#include <compare>
#include <optional>

#include "chat/jinja/value.h"

namespace evener::chat::jinja {

// Python's bool(value).
bool truth(const Value& value);

// bool, int or float as a number; empty for anything else.
std::optional<double> as_number(const Value& value);
// bool or int.
std::optional<int64_t> as_integer(const Value& value);

// Python's ==. Numbers compare by value whatever their type; types that cannot be equal differ.
Result<bool> equal(Budget& budget, const Value& a, const Value& b);

// Python's < on numbers, strings and lists. Error: types without an order.
Result<std::partial_ordering> order(Budget& budget, const Value& a, const Value& b);

// Python's `item in container`.
Result<bool> contains(Budget& budget, const Value& container, const Value& item);

}  // namespace evener::chat::jinja
