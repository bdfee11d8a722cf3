#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Lines, words and numbers of what machines print. Views point into the text that was given.

namespace evener::host {

std::string_view trim(std::string_view text);  // blanks and tabs at both ends

// Each line of `text` without its line end, of Unix or of Windows.
template <class Use>
void each_line(std::string_view text, Use&& use) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    use(line);
  }
}

// What follows the first `key` in `line`.
std::optional<std::string_view> after(std::string_view line, std::string_view key);
// What stands before the first `key`; all of it where there is none.
std::string_view before(std::string_view line, std::string_view key);
// What lies between the first `open` and the next `close`.
std::optional<std::string_view> between(std::string_view line, std::string_view open,
                                        std::string_view close);

std::vector<std::string_view> split(std::string_view text, char separator);  // empty parts too
std::vector<std::string_view> words(std::string_view text);                  // at blanks and tabs
std::string_view take_word(std::string_view& text);  // the first, which is taken from `text`

// All of `text` as a number; hexadecimal ones may begin with 0x.
std::optional<uint64_t> parse_uint(std::string_view text, int base = 10);
// The number that `text` begins with, whatever follows.
std::optional<uint64_t> leading_uint(std::string_view text, int base = 10);
std::optional<double> leading_real(std::string_view text);

// "256M", "8G", "64MB", "512": units of 1024, at most kAddressMax.
std::optional<uint64_t> parse_size(std::string_view text);

// "c0000000-d01fffff" or "0xc0000000-0xd01fffff", both ends included. `last` may lie below `first`:
// that is how a bridge writes a window that is off.
struct AddressRange {
  uint64_t first = 0;
  uint64_t last = 0;

  bool is_off() const { return last < first; }
  uint64_t size_bytes() const { return is_off() ? 0 : last - first + 1; }
};
std::optional<AddressRange> parse_range(std::string_view text);

// UTF-8 of at most 500 bytes, with '?' for what is none and for control characters.
std::string clean(std::string_view text);

}  // namespace evener::host
