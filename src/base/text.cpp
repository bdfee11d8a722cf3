#include "base/text.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace evener {
namespace {

// The last range has the terminal commands of eight-bit character sets.
bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

}  // namespace

std::string printable(std::string_view text, size_t length_max) {
  std::string out;
  size_t end = 0;
  while (end < text.size()) {
    const utf8::Decoded decoded = utf8::decode(text, end);
    if (end + decoded.num_bytes > length_max) return out + "...";
    const std::string_view character = text.substr(end, decoded.num_bytes);
    end += decoded.num_bytes;
    if (character == "\n") {
      out += "\\n";
    } else if (character == "\t") {
      out += "\\t";
    } else if (decoded.valid && !is_control(decoded.code_point)) {
      out += character;
    } else {
      for (const char byte : character) out += fmt::format("\\x{:02x}", uint8_t(byte));
    }
  }
  return out;
}

}  // namespace evener
