#include "base/text.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace evener {
namespace {

// The last range has the terminal commands of eight-bit character sets.
bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

// `value` with three digits: "1.23", "12.3", "123".
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

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

std::string count_text(uint64_t count) {
  constexpr std::string_view kScales[] = {" K", " M", " B", " T"};
  if (count < 1000) return fmt::format("{}", count);
  auto value = static_cast<double>(count);
  std::string_view scale;
  for (const std::string_view next : kScales) {
    // What would round to 1000 belongs to the next scale.
    if (value < 999.5) break;
    value /= 1000;
    scale = next;
  }
  return three_digits(value).append(scale);
}

std::string bytes_text(uint64_t bytes) {
  constexpr std::string_view kScales[] = {" KiB", " MiB", " GiB", " TiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  auto value = static_cast<double>(bytes);
  std::string_view scale;
  for (const std::string_view next : kScales) {
    if (value < 1023.5) break;
    value /= 1024;
    scale = next;
  }
  return three_digits(value).append(scale);
}

std::string grouped_text(uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string counted_text(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace evener
