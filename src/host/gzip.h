#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace evener::host {

// What a gzip file holds; nothing if it is damaged or holds more than `size_max` bytes.
std::optional<std::string> gunzip(std::string_view bytes, size_t size_max);

}  // namespace evener::host
