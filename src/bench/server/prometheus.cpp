#include "bench/server/prometheus.h"

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "base/utf8.h"

namespace evener::bench {
namespace {

constexpr size_t kNameBytes = 1024;
constexpr size_t kSamples = 20'000;

// The end of name and labels in a line; npos if it is no sample. Braces and blanks inside the
// quotes of a label's value end nothing.
size_t name_end(std::string_view line) {
  bool in_labels = false;
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      if (!in_labels) return std::string_view::npos;
      quoted = true;
    } else if (c == '{') {
      in_labels = true;
    } else if (c == '}') {
      return i + 1;
    } else if ((c == ' ' || c == '\t') && !in_labels) {
      return i;
    }
  }
  return std::string_view::npos;
}

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
}

std::string_view without_blanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

void add_line(std::string_view line, Samples& out) {
  if (line.empty() || !starts_name(line.front()) || !utf8::is_valid(line)) return;
  const size_t end = name_end(line);
  if (end > kNameBytes) return;  // npos too
  const std::string_view rest = without_blanks(line.substr(end));
  double value = 0;
  const auto [after, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return;
  const bool whole = after == rest.data() + rest.size() || *after == ' ' || *after == '\t';
  if (whole) out.insert_or_assign(std::string(line.substr(0, end)), value);
}

bool is_of(std::string_view sample, std::string_view name) {
  return sample.starts_with(name) && (sample.size() == name.size() || sample[name.size()] == '{');
}

}  // namespace

Samples parse_prometheus(std::string_view text) {
  Samples out;
  while (!text.empty() && out.size() < kSamples) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    add_line(line, out);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

std::optional<double> sum_of(const Samples& samples, std::string_view name) {
  std::optional<double> sum;
  for (auto at = samples.lower_bound(std::string(name));
       at != samples.end() && at->first.starts_with(name); ++at) {
    if (is_of(at->first, name)) sum = sum.value_or(0) + at->second;
  }
  return sum;
}

std::optional<std::string> label_of(const Samples& samples, std::string_view name,
                                    std::string_view label) {
  for (auto at = samples.lower_bound(std::string(name));
       at != samples.end() && at->first.starts_with(name); ++at) {
    if (!is_of(at->first, name)) continue;
    const std::string mark = std::string(label) + "=\"";
    for (size_t from = name.size(); (from = at->first.find(mark, from)) != std::string::npos;
         ++from) {
      if (at->first[from - 1] != '{' && at->first[from - 1] != ',') continue;
      const size_t begin = from + mark.size();
      const size_t end = at->first.find('"', begin);
      if (end == std::string::npos) return std::nullopt;
      return printable(std::string_view(at->first).substr(begin, end - begin));
    }
  }
  return std::nullopt;
}

}  // namespace evener::bench
