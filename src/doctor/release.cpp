#include "doctor/release.h"

#include <fmt/format.h>

#include <charconv>

namespace evener::doctor {
namespace {

// Takes a number off the front.
std::optional<unsigned> take_number(std::string_view& text) {
  unsigned number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{}) return {};
  text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
  return number;
}

std::optional<unsigned> take_part(std::string_view& text) {
  if (!text.starts_with('.')) return {};
  std::string_view rest = text.substr(1);
  const auto number = take_number(rest);
  if (number) text = rest;
  return number;
}

}  // namespace

std::string to_string(Release release) {
  if (release.patch == 0) return fmt::format("{}.{}", release.major, release.minor);
  return fmt::format("{}.{}.{}", release.major, release.minor, release.patch);
}

std::optional<KernelName> parse_kernel_name(std::string_view text) {
  KernelName name;
  const auto major = take_number(text);
  const auto minor = take_part(text);
  if (!major || !minor) return {};
  name.release = {*major, *minor, take_part(text).value_or(0)};
  name.suffix = text;
  return name;
}

}  // namespace evener::doctor
