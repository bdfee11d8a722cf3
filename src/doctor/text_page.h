#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace evener::doctor {

// How a page of text is to look.
struct TextStyle {
  size_t width = 0;     // columns of a line; 0: lines are not broken
  bool colour = false;  // terminal commands for colours
  bool ascii = false;   // lines are drawn with | ` - instead of the characters for it
};

enum class Tone { plain, strong, quiet, good, caution, bad };

// A piece of a line in one colour.
struct Span {
  std::string text;
  Tone tone = Tone::plain;
};

// Lines of text that break at spaces and carry colours. Control characters and bytes that are not
// UTF-8 are made visible, wherever the text came from: a machine's names cannot move the cursor.
// Counts code points: what is wider than one column sticks out a little. One thread.
// Judge: tests/doctor/text_page_test.cpp.
class TextPage {
 public:
  explicit TextPage(const TextStyle& style) : style_(style) {}

  const TextStyle& style() const { return style_; }

  void blank() { text_ += '\n'; }
  // A heading with an empty line before it.
  void title(std::string_view text);
  // Words that go on in further lines. `first` stands before the first line, `rest` before others.
  void paragraph(std::string_view first, std::string_view rest, std::span<const Span> spans);
  void paragraph(std::string_view indent, std::string_view text, Tone tone = Tone::plain);
  // "  - text", continued under the text.
  void item(std::string_view indent, std::string_view text, Tone tone = Tone::plain);
  // As it is: columns, commands and patches are not broken. Tabs stay.
  void verbatim(std::string_view indent, std::span<const Span> spans);
  void verbatim(std::string_view indent, std::string_view text, Tone tone = Tone::plain);

  std::string take() { return std::move(text_); }

 private:
  void put(std::string_view text, Tone tone);
  void end_line();

  TextStyle style_;
  std::string text_;
  Tone tone_ = Tone::plain;  // of what was put last
};

// Code points of `text`, as a page shows it.
size_t columns_of(std::string_view text);

}  // namespace evener::doctor
