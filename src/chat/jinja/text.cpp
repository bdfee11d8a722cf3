#include "chat/jinja/text.h"

#include <clocale>
#include <cwctype>
#include <utility>

#include "base/utf8.h"

namespace evener::chat::jinja {
namespace {

// The C library's tables for all of Unicode, whatever locale the process runs in. Null (and then
// only ASCII is mapped) where it has no such locale.
locale_t unicode_locale() {
  static const locale_t kLocale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return kLocale;
}

char32_t map_case(char32_t code_point, wint_t (*map)(wint_t, locale_t), bool to_upper) {
  if (code_point < 0x80) {
    const char first = to_upper ? 'a' : 'A';
    const bool changes = code_point >= static_cast<char32_t>(first) &&
                         code_point <= static_cast<char32_t>(first + 25);
    return changes ? code_point ^ 0x20 : code_point;
  }
  const locale_t locale = unicode_locale();
  if (locale == nullptr) return code_point;
  return static_cast<char32_t>(map(static_cast<wint_t>(code_point), locale));
}

char32_t to_upper(char32_t c) { return map_case(c, towupper_l, true); }
char32_t to_lower(char32_t c) { return map_case(c, towlower_l, false); }

// Calls map(code point, index) for each character and keeps bytes that are none.
template <class Map>
std::string mapped(std::string_view text, Map map) {
  std::string out;
  out.reserve(text.size());
  size_t index = 0;
  for (size_t i = 0; i < text.size(); ++index) {
    const utf8::Decoded decoded = utf8::decode(text, i);
    if (decoded.valid)
      utf8::append(out, map(decoded.code_point, index));
    else
      out += text[i];
    i += decoded.num_bytes;
  }
  return out;
}

// Where the last character of `text` begins.
size_t last_character(std::string_view text) {
  const size_t from = text.size() < 4 ? 0 : text.size() - 4;
  for (size_t i = from; i + 1 < text.size(); ++i) {
    const utf8::Decoded decoded = utf8::decode(text, i);
    if (decoded.valid && i + decoded.num_bytes == text.size()) return i;
  }
  return text.size() - 1;
}

template <class Accept>
std::string_view take_begin(std::string_view text, Accept accept) {
  while (!text.empty()) {
    const size_t num_bytes = utf8::decode(text, 0).num_bytes;
    if (!accept(text.substr(0, num_bytes))) break;
    text.remove_prefix(num_bytes);
  }
  return text;
}

template <class Accept>
std::string_view take_end(std::string_view text, Accept accept) {
  while (!text.empty()) {
    const size_t begin = last_character(text);
    if (!accept(text.substr(begin))) break;
    text.remove_suffix(text.size() - begin);
  }
  return text;
}

bool ends_line(char32_t c) {
  return (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

bool is_white(std::string_view character) {
  const utf8::Decoded decoded = utf8::decode(character, 0);
  return decoded.valid && is_space(decoded.code_point);
}

}  // namespace

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

std::string_view strip_begin(std::string_view text) { return take_begin(text, is_white); }
std::string_view strip_end(std::string_view text) { return take_end(text, is_white); }

std::string_view strip_begin(std::string_view text, std::string_view set) {
  return take_begin(text, [set](std::string_view c) { return set.find(c) != set.npos; });
}
std::string_view strip_end(std::string_view text, std::string_view set) {
  return take_end(text, [set](std::string_view c) { return set.find(c) != set.npos; });
}

size_t length(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++count) i += utf8::decode(text, i).num_bytes;
  return count;
}

size_t byte_offset(std::string_view text, size_t index) {
  size_t offset = 0;
  for (; index > 0 && offset < text.size(); --index) offset += utf8::decode(text, offset).num_bytes;
  return offset;
}

std::string upper(std::string_view text) {
  return mapped(text, [](char32_t c, size_t) { return to_upper(c); });
}

std::string lower(std::string_view text) {
  return mapped(text, [](char32_t c, size_t) { return to_lower(c); });
}

std::string capitalize(std::string_view text) {
  return mapped(text, [](char32_t c, size_t i) { return i == 0 ? to_upper(c) : to_lower(c); });
}

bool is_alpha(char32_t c) {
  if (c < 0x80) return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
  return unicode_locale() != nullptr && iswalpha_l(static_cast<wint_t>(c), unicode_locale()) != 0;
}

bool is_upper(char32_t c) { return to_lower(c) != c; }
bool is_lower(char32_t c) { return to_upper(c) != c; }

std::string_view take_line(std::string_view& text) {
  size_t i = 0;
  while (i < text.size()) {
    const utf8::Decoded c = utf8::decode(text, i);
    const std::string_view line = text.substr(0, i);
    i += c.num_bytes;
    if (!c.valid || !ends_line(c.code_point)) continue;
    if (c.code_point == '\r' && text.substr(i).starts_with('\n')) ++i;
    text.remove_prefix(i);
    return line;
  }
  return std::exchange(text, std::string_view());
}

}  // namespace evener::chat::jinja
