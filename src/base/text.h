#pragma once

#include <string>
#include <string_view>

namespace evener {

// `text` with control characters and what is not UTF-8 written as \n, \t or \xNN, and cut after at
// most `length_max` bytes, between two characters, with "..." behind: what may be printed of
// something a file or client said.
std::string printable(std::string_view text, size_t length_max = 200);

}  // namespace evener
