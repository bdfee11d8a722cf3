#pragma once

#include <string>
#include <string_view>

namespace evener {

// `text` with control characters (but not UTF-8 bytes) written as \n, \t or \xNN and cut to
// `length_max` bytes with "..." behind: what may be printed of something a file or client said.
std::string printable(std::string_view text, size_t length_max = 200);

}  // namespace evener
