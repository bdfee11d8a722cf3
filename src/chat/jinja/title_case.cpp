#include "chat/jinja/title_case.h"

#include "base/utf8.h"
#include "chat/jinja/text.h"

namespace evener::chat::jinja {
namespace {

template <class BeginsWord>
std::string titled(std::string_view text, BeginsWord begins_word) {
  std::string out;
  bool at_begin = true;
  for_each_character(text, [&](std::string_view character) {
    out += at_begin ? upper(character) : lower(character);
    at_begin = begins_word(utf8::decode(character, 0).code_point);
  });
  return out;
}

}  // namespace

std::string title_words(std::string_view text) {
  return titled(text, [](char32_t previous) { return !is_alpha(previous); });
}

std::string title_filter(std::string_view text) {
  return titled(text, [](char32_t previous) {
    return is_space(previous) || previous == '-' || previous == '(' || previous == '{' ||
           previous == '[' || previous == '<';
  });
}

}  // namespace evener::chat::jinja
