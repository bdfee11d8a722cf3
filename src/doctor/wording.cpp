#include "doctor/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace evener::doctor {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string size_text(uint64_t bytes) {
  static constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

std::string window_text(uint64_t bytes) {
  const uint64_t rest = bytes % kGiB;
  if (bytes < kGiB || rest == 0) return size_text(bytes);
  return fmt::format("{} GiB + {}", bytes / kGiB, size_text(rest));
}

std::string address_text(uint64_t address) { return fmt::format("{:#x}", address); }

std::string rate_text(double gb_per_s) {
  std::string number = fmt::format("{:.2f}", gb_per_s);
  if (number.ends_with('0')) number.pop_back();
  return number + " GB/s";
}

std::string count_text(size_t number) {
  static constexpr std::array kWords = {"no", "one", "two", "three"};
  return number < kWords.size() ? kWords[number] : fmt::format("{}", number);
}

std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lower);
  return result;
}

bool mentions(std::string_view text, std::string_view word) {
  return !std::ranges::search(text, word, [](char a, char b) {
            return lower(a) == lower(b);
          }).empty();
}

void add_new(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

void add_new(std::vector<std::string>& list, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) add_new(list, text);
}

}  // namespace evener::doctor
