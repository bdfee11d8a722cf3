#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace evener {

// The place of the largest finite value, the first among equals; none if no value is finite.
std::optional<size_t> arg_max(std::span<const float> values);

}  // namespace evener
