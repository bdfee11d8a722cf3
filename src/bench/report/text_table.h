#pragma once

#include <string>
#include <vector>

#include "bench/report/document.h"

namespace evener::bench {

// A table as lines of at most `width` columns: numbers to the right, long texts broken, and columns
// that do not fit in further blocks that repeat the key columns. Rows
// that are marked have a star behind their last entry.
struct TextTableStyle {
  Language language = Language::english;
  size_t width = 100;
  std::string indent = "  ";
};

struct TextTableLine {
  std::string text;
  enum class Kind : uint8_t { head, row, marked, gap } kind = Kind::row;
};

std::vector<TextTableLine> text_table(const Table& table, const TextTableStyle& style);

}  // namespace evener::bench
