#include "base/text.h"

#include <fmt/format.h>

namespace evener {

std::string printable(std::string_view text, size_t length_max) {
  std::string out;
  const bool cut = text.size() > length_max;
  for (const char c : text.substr(0, length_max)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  if (cut) out += "...";
  return out;
}

}  // namespace evener
