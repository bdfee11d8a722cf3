#include "host/text_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/utf8.h"
#include "host/limits.h"

namespace evener::host {
namespace {

constexpr std::string_view kBlanks = " \t\v\f\r";
constexpr size_t kCleanMax = 500;

void drop_hex_prefix(std::string_view& text, int base) {
  if (base != 16) return;
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
}

// The power of 1024 that "K", "MB" or "GiB" stands for; empty if it is no unit.
std::optional<unsigned> unit_shift(std::string_view unit) {
  if (unit.empty() || unit == "B") return 0;
  constexpr std::string_view kUnits = "KMGTP";
  const size_t at = kUnits.find(unit.front() == 'k' ? 'K' : unit.front());
  const std::string_view rest = unit.substr(1);
  if (at == std::string_view::npos) return {};
  if (!rest.empty() && rest != "B" && rest != "iB") return {};
  return static_cast<unsigned>(10 * (at + 1));
}

}  // namespace

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<std::string_view> after(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  return line.substr(at + key.size());
}

std::string_view before(std::string_view line, std::string_view key) {
  return line.substr(0, line.find(key));
}

std::optional<std::string_view> between(std::string_view line, std::string_view open,
                                        std::string_view close) {
  const auto rest = after(line, open);
  if (!rest) return {};
  const size_t end = rest->find(close);
  if (end == std::string_view::npos) return {};
  return rest->substr(0, end);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> list;
  for (;;) {
    const std::string_view word = take_word(text);
    if (word.empty()) return list;
    list.push_back(word);
  }
}

std::optional<uint64_t> leading_uint(std::string_view text, int base) {
  drop_hex_prefix(text, base);
  uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (read.ec != std::errc{}) return {};
  return value;
}

std::optional<uint64_t> parse_uint(std::string_view text, int base) {
  drop_hex_prefix(text, base);
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value, base);
  if (read.ec != std::errc{} || read.ptr != end) return {};
  return value;
}

std::optional<double> leading_real(std::string_view text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || !std::isfinite(value)) return {};
  return value;
}

std::optional<uint64_t> parse_size(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_uint(text.substr(0, digits));
  const auto shift = unit_shift(trim(text.substr(digits)));
  if (!number || !shift || *number > kAddressMax >> *shift) return {};
  return *number << *shift;
}

std::optional<AddressRange> parse_range(std::string_view text) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return {};
  const auto first = parse_uint(trim(text.substr(0, dash)), 16);
  const auto last = parse_uint(trim(text.substr(dash + 1)), 16);
  if (!first || !last) return {};
  if (*last < *first) return AddressRange{*first, *last};
  if (*last > kAddressMax) return {};
  return AddressRange{*first, *last};
}

std::string clean(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size() && out.size() < kCleanMax;) {
    const auto decoded = utf8::decode(text, at);
    const bool is_control = decoded.code_point < 0x20 || decoded.code_point == 0x7f;
    if (decoded.valid && !is_control) {
      out += text.substr(at, decoded.num_bytes);
    } else {
      out += decoded.code_point == '\t' ? ' ' : '?';
    }
    at += std::max<size_t>(decoded.num_bytes, 1);
  }
  return out;
}

}  // namespace evener::host
