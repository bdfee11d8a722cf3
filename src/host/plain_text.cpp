#include "host/plain_text.h"

#include <string_view>

#include "base/utf8.h"

namespace evener::host {
namespace {

constexpr std::string_view kMark8 = "\xef\xbb\xbf";
constexpr std::string_view kMark16Little = "\xff\xfe";
constexpr std::string_view kMark16Big = "\xfe\xff";

// Reads UTF-16, two bytes a unit.
struct Utf16 {
  std::string_view bytes;
  bool big_endian = false;

  char32_t take() {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const unsigned unit =
        big_endian ? (unsigned{byte(0)} << 8 | byte(1)) : (unsigned{byte(1)} << 8 | byte(0));
    bytes.remove_prefix(2);
    return unit;
  }
};

std::string from_utf16(Utf16 text) {
  std::string out;
  while (text.bytes.size() >= 2) {
    char32_t code = text.take();
    if (code >= 0xd800 && code < 0xdc00 && text.bytes.size() >= 2) {
      const char32_t low = text.take();
      const bool pair = low >= 0xdc00 && low < 0xe000;
      code = pair ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : U'?';
    }
    if (code >= 0xd800 && code < 0xe000) code = U'?';
    utf8::append(out, code);
  }
  return out;
}

// Length of the escape sequence that `text` begins with (ESC [ ... letter); 0 if it is none.
size_t escape_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  size_t i = 2;
  while (i < text.size() && i < 32 && text[i] >= 0x20 && text[i] < 0x40) ++i;
  return i < text.size() && text[i] >= 0x40 && text[i] < 0x7f ? i + 1 : 0;
}

bool is_printable_ascii(char c) { return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t'; }

// Appends what stands at `text[offset]` and returns how many bytes that were.
size_t append_clean(std::string& out, std::string_view text, size_t offset) {
  const std::string_view rest = text.substr(offset);
  if (is_printable_ascii(rest[0])) {
    out += rest[0];
    return 1;
  }
  if (rest.starts_with("\r\n")) return 1;
  if (const size_t length = escape_length(rest); length > 0) return length;
  const utf8::Decoded decoded = utf8::decode(text, offset);
  const bool keep = decoded.valid && decoded.code_point >= 0xa0;
  if (keep) {
    out += rest.substr(0, decoded.num_bytes);
  } else {
    out += '?';
  }
  return decoded.num_bytes;
}

}  // namespace

std::string plain_text(std::string bytes) {
  std::string_view text = bytes;
  std::string converted;
  if (text.starts_with(kMark16Little) || text.starts_with(kMark16Big)) {
    converted = from_utf16({text.substr(2), text.starts_with(kMark16Big)});
    text = converted;
  }
  while (text.starts_with(kMark8)) text.remove_prefix(kMark8.size());
  std::string out;
  out.reserve(text.size());
  for (size_t offset = 0; offset < text.size();) offset += append_clean(out, text, offset);
  return out;
}

}  // namespace evener::host
