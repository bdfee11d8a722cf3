#pragma once

#include <cstddef>
#include <vector>

#include "chat/jinja/value.h"

namespace evener::chat::jinja {

enum class Direction { ascending, descending };

// Indices of `keys` in their order; equal keys keep their order in both directions, as in Python.
// Error: two keys that cannot be compared.
Result<std::vector<size_t>> sorted_order(Budget& budget, const std::vector<Value>& keys,
                                         Direction direction);

}  // namespace evener::chat::jinja
