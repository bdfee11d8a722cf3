#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace evener::engine {

inline constexpr std::string_view kBundledModelName = "evener-tiny35";

// The small model inside the program: a whole GGUF file, at an address that is a multiple of 64.
// See models/README.md.
std::span<const std::byte> bundled_model();

}  // namespace evener::engine
