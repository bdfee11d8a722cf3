#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace evener {

// `text` with control characters and what is not UTF-8 written as \n, \t or \xNN, and cut after at
// most `length_max` bytes, between two characters, with "..." behind: what may be printed of
// something a file or client said.
std::string printable(std::string_view text, size_t length_max = 200);

// "999", "15.0 M", "27.1 B": three digits and the scale word of parameters.
std::string count_text(uint64_t count);

// "512 bytes", "11.8 MiB", "25.4 GiB".
std::string bytes_text(uint64_t bytes);

// "1,234,567".
std::string grouped_text(uint64_t number);

// "1 layer", "24 layers".
std::string counted_text(size_t count, std::string_view what);

}  // namespace evener
