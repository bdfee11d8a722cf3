#include "bench/report/wrap.h"

#include <algorithm>

#include "base/utf8.h"
#include "bench/report/text.h"

namespace evener::bench {
namespace {

bool is_wide(std::string_view character) { return columns_of(character) == 2; }

bool closes(std::string_view character) {
  for (const std::string_view mark : {"，", "。", "：", "；", "、", "）", "！", "？", "”"}) {
    if (character == mark) return true;
  }
  return false;
}

bool opens(std::string_view character) { return character == "（" || character == "“"; }

struct Piece {
  std::string text;
  bool space_before = false;
};

std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> pieces;
  bool space = false;
  bool may_go_on = false;  // whether the next character belongs to the last piece
  for (size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    const std::string_view character = text.substr(at, next.num_bytes);
    at += next.num_bytes;
    if (character == " ") {
      space = true;
      may_go_on = false;
      continue;
    }
    const bool joins =
        !pieces.empty() && !space &&
        (closes(character) || (may_go_on && !is_wide(character)) || opens(pieces.back().text));
    if (joins) {
      pieces.back().text += character;
    } else {
      pieces.push_back({std::string(character), space});
    }
    may_go_on = !is_wide(character);
    space = false;
  }
  return pieces;
}

// Takes as many characters from the front of `text` as fit `width`, at least one.
std::string cut(std::string& text, size_t width) {
  size_t at = 0;
  size_t columns = 0;
  while (at < text.size()) {
    const utf8::Decoded next = utf8::decode(text, at);
    const size_t more = columns_of(std::string_view(text).substr(at, next.num_bytes));
    if (at > 0 && columns + more > width) break;
    columns += more;
    at += next.num_bytes;
  }
  std::string front = text.substr(0, at);
  text.erase(0, at);
  return front;
}

}  // namespace

std::vector<std::string> wrap(std::string_view text, size_t width) {
  width = std::max<size_t>(width, 1);
  std::vector<std::string> lines(1);
  for (Piece& piece : pieces_of(text)) {
    const size_t space = piece.space_before && !lines.back().empty() ? 1 : 0;
    if (!lines.back().empty() &&
        columns_of(lines.back()) + space + columns_of(piece.text) > width) {
      lines.emplace_back();
    } else if (space == 1) {
      lines.back() += ' ';
    }
    while (columns_of(piece.text) > width && piece.text.size() > 1) {
      lines.back() += cut(piece.text, width);
      lines.emplace_back();
    }
    lines.back() += piece.text;
  }
  if (lines.size() > 1 && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string pad_right(std::string_view text, size_t width) {
  const size_t columns = columns_of(text);
  return std::string(text) + std::string(width > columns ? width - columns : 0, ' ');
}

std::string pad_left(std::string_view text, size_t width) {
  const size_t columns = columns_of(text);
  return std::string(width > columns ? width - columns : 0, ' ') + std::string(text);
}

size_t longest_piece(std::string_view text) {
  size_t longest = 0;
  for (const Piece& piece : pieces_of(text)) longest = std::max(longest, columns_of(piece.text));
  return longest;
}

}  // namespace evener::bench
