#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evener::bench {

// Lines of at most `width` columns (at least one): broken at spaces and between Chinese characters,
// but not before a mark that closes; a word that is longer is cut.
std::vector<std::string> wrap(std::string_view text, size_t width);

// `text` with spaces up to `width` columns, behind it or before it.
std::string pad_right(std::string_view text, size_t width);
std::string pad_left(std::string_view text, size_t width);

// Columns of the longest piece that wrap() would not break.
size_t longest_piece(std::string_view text);

}  // namespace evener::bench
