#include "bench/report/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace evener::bench {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

std::string fill_one(const std::string& form, std::initializer_list<Text> arguments,
                     Language language) {
  std::string out;
  for (size_t i = 0; i < form.size(); ++i) {
    const bool is_place = form[i] == '{' && i + 2 < form.size() && form[i + 2] == '}';
    const size_t index = is_place ? size_t(form[i + 1]) - size_t('0') : arguments.size();
    if (index < arguments.size()) {
      out += (arguments.begin() + index)->in(language);
      i += 2;
    } else {
      out += form[i];
    }
  }
  return out;
}

bool turns_direction(char32_t c) {
  return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F;
}

char32_t harmless(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return ' ';
  const bool is_control = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029;
  return is_control || turns_direction(c) ? kReplacement : c;
}

}  // namespace

Text same(std::string text) {
  Text both{.english = std::move(text), .chinese = {}};
  both.chinese = both.english;
  return both;
}

Text operator+(Text a, const Text& b) {
  a.english += b.english;
  a.chinese += b.chinese;
  return a;
}

Text fill(const Text& form, std::initializer_list<Text> arguments) {
  return {.english = fill_one(form.english, arguments, Language::english),
          .chinese = fill_one(form.chinese, arguments, Language::chinese)};
}

std::string shown(std::string_view text, size_t bytes_max) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    std::string bytes;
    utf8::append(bytes, next.valid ? harmless(next.code_point) : kReplacement);
    if (out.size() + bytes.size() > bytes_max) return out + "...";
    out += bytes;
    at += next.num_bytes;
  }
  return out;
}

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    columns += next.valid ? size_t(std::max(0, utf8proc_charwidth(int32_t(next.code_point)))) : 1;
    at += next.num_bytes;
  }
  return columns;
}

}  // namespace evener::bench
