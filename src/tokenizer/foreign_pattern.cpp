#include "tokenizer/foreign_pattern.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/text.h"
#include "tokenizer/regex.h"

namespace evener::tokenizer {
namespace {

constexpr size_t kBytesMax = 1 << 15;
constexpr size_t kDepthMax = 100;

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char other_case(char c) { return static_cast<char>(c ^ 0x20); }

class Translation {
 public:
  explicit Translation(std::string_view pattern) : pattern_(pattern) {}

  Result<std::string> run();

 private:
  Error error(std::string why) const;
  bool at_end() const { return at_ == pattern_.size(); }
  bool looking_at(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
  void copy(size_t count) {
    out_ += pattern_.substr(at_, count);
    at_ += count;
  }
  bool caseless() const { return !groups_.empty() && groups_.back(); }

  Status step();
  Status open_group();
  Status escape(bool in_class);
  Status character_class();
  Status class_item();
  Status code_point();

  std::string_view pattern_;
  size_t at_ = 0;
  std::string out_;
  std::vector<bool> groups_;  // open ones: whether letters match both cases
};

Error Translation::error(std::string why) const {
  return {.code = Code::unsupported,
          .doing = "make a tokenizer",
          .where = {},
          .why = fmt::format("pattern '{}', offset {}: {}", printable(pattern_, 120), at_, why),
          .remedy = {}};
}

Status Translation::open_group() {
  if (groups_.size() == kDepthMax) return error("is nested too deeply");
  if (!looking_at("(?")) {
    if (looking_at("(*")) return error("verbs are not read");
    groups_.push_back(caseless());
    copy(1);
    return {};
  }
  if (looking_at("(?i:")) {
    groups_.push_back(true);
    out_ += "(?:";
    at_ += 4;
    return {};
  }
  for (const std::string_view kind : {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!"}) {
    if (!looking_at(kind)) continue;
    groups_.push_back(caseless());
    copy(kind.size());
    return {};
  }
  return error("this kind of group is not read");
}

// \uHHHH and \x{H...}; the backslash is next.
Status Translation::code_point() {
  const bool braces = looking_at("\\x{");
  const size_t begin = at_ + (braces ? 3 : 2);
  const size_t end =
      braces ? pattern_.find('}', begin) : begin + (pattern_[at_ + 1] == 'u' ? 4 : 2);
  if (end == std::string_view::npos || end > pattern_.size() || end == begin || end - begin > 6) {
    return error("a code point is cut short");
  }
  const std::string_view digits = pattern_.substr(begin, end - begin);
  if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
    return error("a code point is no hexadecimal number");
  }
  out_ += fmt::format("\\x{{{}}}", digits);
  at_ = end + (braces ? 1 : 0);
  return {};
}

Status Translation::escape(bool in_class) {
  if (at_ + 1 == pattern_.size()) return error("ends in a backslash");
  const char escaped = pattern_[at_ + 1];
  switch (escaped) {
    case 'p':
    case 'P': {
      const size_t end = looking_at(fmt::format("\\{}{{", escaped)) ? pattern_.find('}', at_) : at_;
      if (end == at_ || end == std::string_view::npos) return error("a property has no braces");
      copy(end + 1 - at_);
      return {};
    }
    case 'u':
    case 'x':
      return code_point();
    case 'S':
      if (in_class) return error("\\S inside a class is not read");
      [[fallthrough]];
    case 's':
    case 'd':
    case 'r':
    case 'n':
    case 't':
      copy(2);
      return {};
    default:
      if (is_letter(escaped) || is_digit(escaped)) return error("this escape is not read");
      copy(2);
      return {};
  }
}

// One character, range or escape of a class.
Status Translation::class_item() {
  const char c = pattern_[at_];
  if (c == '\\') return escape(true);
  if (c == '[' || looking_at("&&")) return error("classes inside classes are not read");
  const bool is_range = at_ + 2 < pattern_.size() && pattern_[at_ + 1] == '-' &&
                        pattern_[at_ + 2] != ']' && pattern_[at_ + 2] != '\\';
  if (caseless() && is_letter(c)) {
    const char last = is_range ? pattern_[at_ + 2] : c;
    const bool ends_otherwise = pattern_.substr(at_ + 1).starts_with("-\\");
    if (!is_letter(last) || ends_otherwise) {
      return error("a range from a letter to another character is not read");
    }
    out_ += fmt::format("{}-{}{}-{}", c, last, other_case(c), other_case(last));
    at_ += is_range ? 3 : 1;
    return {};
  }
  copy(1);
  return {};
}

Status Translation::character_class() {
  copy(1);
  if (looking_at("^")) copy(1);
  if (looking_at("]")) return error("a class that begins with ] is not read");
  while (!at_end() && pattern_[at_] != ']') RETURN_IF_ERROR(class_item());
  if (at_end()) return error("a class has no end");
  copy(1);
  return {};
}

Status Translation::step() {
  const char c = pattern_[at_];
  switch (c) {
    case '(':
      return open_group();
    case ')':
      if (groups_.empty()) return error("a group ends that none began");
      groups_.pop_back();
      copy(1);
      return {};
    case '[':
      return character_class();
    case '\\':
      return escape(false);
    case '^':
      return error("^ is not read");
    case '$':  // the end of any line
      out_ += "(?=\\n|\\z)";
      ++at_;
      return {};
    default:
      if (caseless() && is_letter(c)) {
        out_ += fmt::format("[{}{}]", c, other_case(c));
        ++at_;
      } else {
        copy(1);
      }
      return {};
  }
}

Result<std::string> Translation::run() {
  if (pattern_.size() > kBytesMax) {
    Error made =
        error(fmt::format("has {} bytes, at most {} are read", pattern_.size(), kBytesMax));
    made.code = Code::limit_exceeded;
    return made;
  }
  while (!at_end()) RETURN_IF_ERROR(step());
  if (!groups_.empty()) return error("a group has no end");
  auto compiled = Regex::compile(out_);
  if (compiled) return std::move(out_);
  return error(std::move(compiled).error().why);
}

}  // namespace

Result<std::string> translate_pattern(std::string_view pattern) {
  return Translation(pattern).run();
}

std::string literal_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    const bool plain = is_letter(c) || is_digit(c) || (c & 0x80) != 0;
    if (!plain) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

}  // namespace evener::tokenizer
