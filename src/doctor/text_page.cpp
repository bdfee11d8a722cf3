#include "doctor/text_page.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"

namespace evener::doctor {
namespace {

// A word may change its colour in the middle: "R40" and the comma behind it.
struct Word {
  std::vector<Span> pieces;
  size_t num_columns = 0;
};

std::string visible(std::string_view text) {
  return printable(text, std::numeric_limits<size_t>::max());
}

void add_piece(Word& word, std::string_view text, Tone tone) {
  word.pieces.push_back({.text = visible(text), .tone = tone});
  word.num_columns += columns_of(word.pieces.back().text);
}

std::vector<Word> words_of(std::span<const Span> spans) {
  std::vector<Word> words;
  bool goes_on = false;  // the last word has no space behind it so far
  for (const auto& [text, tone] : spans) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      if (end > at) {
        if (!goes_on) words.emplace_back();
        add_piece(words.back(), std::string_view(text).substr(at, end - at), tone);
      }
      goes_on = end == text.size();
      at = end + 1;
    }
  }
  return words;
}

std::string_view command_of(Tone tone) {
  static constexpr std::array<std::string_view, 6> kCommands = {
      "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[33m", "\x1b[1;31m"};
  return kCommands[static_cast<size_t>(tone)];
}

std::string visible_but_tabs(std::string_view text) {
  std::string result;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\t', at), text.size());
    result += visible(text.substr(at, end - at));
    if (end < text.size()) result += '\t';
    at = end + 1;
  }
  return result;
}

}  // namespace

size_t columns_of(std::string_view text) {
  size_t num_columns = 0;
  for (size_t at = 0; at < text.size(); ++num_columns) at += utf8::decode(text, at).num_bytes;
  return num_columns;
}

void TextPage::put(std::string_view text, Tone tone) {
  if (style_.colour && tone != tone_) {
    if (tone_ != Tone::plain) text_ += command_of(Tone::plain);
    if (tone != Tone::plain) text_ += command_of(tone);
  }
  tone_ = tone;
  text_ += text;
}

void TextPage::end_line() {
  put("", Tone::plain);
  text_ += '\n';
}

void TextPage::title(std::string_view text) {
  blank();
  put(text, Tone::strong);
  end_line();
}

void TextPage::paragraph(std::string_view first, std::string_view rest,
                         std::span<const Span> spans) {
  put(first, Tone::plain);
  size_t column = columns_of(first);
  bool is_first = true;  // of its line
  for (const Word& word : words_of(spans)) {
    if (!is_first && style_.width > 0 && column + 1 + word.num_columns > style_.width) {
      end_line();
      put(rest, Tone::plain);
      column = columns_of(rest);
    } else if (!is_first) {
      put(" ", word.pieces.front().tone == tone_ ? tone_ : Tone::plain);
      ++column;
    }
    for (const auto& [text, tone] : word.pieces) put(text, tone);
    column += word.num_columns;
    is_first = false;
  }
  end_line();
}

void TextPage::paragraph(std::string_view indent, std::string_view text, Tone tone) {
  const std::array spans = {Span{.text = std::string(text), .tone = tone}};
  paragraph(indent, indent, spans);
}

void TextPage::item(std::string_view indent, std::string_view text, Tone tone) {
  const std::array spans = {Span{.text = std::string(text), .tone = tone}};
  paragraph(std::string(indent) + "- ", std::string(indent) + "  ", spans);
}

void TextPage::verbatim(std::string_view indent, std::span<const Span> spans) {
  put(indent, Tone::plain);
  for (const auto& [text, tone] : spans) put(visible_but_tabs(text), tone);
  end_line();
}

void TextPage::verbatim(std::string_view indent, std::string_view text, Tone tone) {
  const std::array spans = {Span{.text = std::string(text), .tone = tone}};
  verbatim(indent, spans);
}

}  // namespace evener::doctor
