#include "base/json_scan.h"

#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/utf8.h"

namespace evener::json {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Scanner {
 public:
  Scanner(std::string_view text, Events& events) : text_(text), events_(events) {}

  ScanOutcome run();
  size_t offset() const { return at_; }

 private:
  enum class Container : char { object, array };

  bool at_end() const { return at_ == text_.size(); }
  bool looking_at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c);
  bool take(std::string_view word);
  void skip_space();
  bool skip_digits();
  void skip_plain();

  ScanOutcome value();
  ScanOutcome member();
  ScanOutcome name();
  ScanOutcome open(Container container);
  ScanOutcome close();
  ScanOutcome number();
  ScanOutcome tell_number(std::string_view digits, bool is_whole);
  ScanOutcome string_value();
  std::optional<std::string_view> string();
  bool escape();
  std::optional<uint32_t> hex4();
  static ScanOutcome told(bool goes_on) {
    return goes_on ? ScanOutcome::complete : ScanOutcome::stopped;
  }

  std::string_view text_;
  Events& events_;
  size_t at_ = 0;
  std::vector<Container> open_;
  bool is_first_ = false;  // no member of the innermost container has come yet
  std::string unescaped_;
};

bool Scanner::take(char c) {
  if (!looking_at(c)) return false;
  ++at_;
  return true;
}

bool Scanner::take(std::string_view word) {
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

void Scanner::skip_space() {
  while (looking_at(' ') || looking_at('\n') || looking_at('\r') || looking_at('\t')) ++at_;
}

bool Scanner::skip_digits() {
  const size_t begin = at_;
  while (!at_end() && is_digit(text_[at_])) ++at_;
  return at_ > begin;
}

// Goes to what is not simply part of a string: its end, an escape, or what it must not hold.
void Scanner::skip_plain() {
  while (!at_end()) {
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c < 0x80) {
      if (c == '"' || c == '\\' || c < 0x20) return;
      ++at_;
      continue;
    }
    const utf8::Decoded decoded = utf8::decode(text_, at_);
    if (!decoded.valid) return;
    at_ += decoded.num_bytes;
  }
}

std::optional<uint32_t> Scanner::hex4() {
  const std::string_view digits = text_.substr(at_, 4);
  uint32_t code = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, code, 16);
  if (digits.size() < 4 || parsed.ec != std::errc() || parsed.ptr != end) return {};
  at_ += 4;
  return code;
}

// Behind a backslash. Appends what is meant.
bool Scanner::escape() {
  if (at_end()) return false;
  constexpr std::string_view kEscaped = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  if (const size_t which = kEscaped.find(text_[at_]); which != std::string_view::npos) {
    unescaped_ += kMeant[which];
    ++at_;
    return true;
  }
  if (!take('u')) return false;
  const auto unit = hex4();
  if (!unit) return false;
  uint32_t code_point = *unit;
  const bool is_surrogate = *unit >= 0xD800 && *unit < 0xE000;
  if (is_surrogate) {
    if (*unit >= 0xDC00 || !take("\\u")) return false;
    const auto low = hex4();
    if (!low || *low < 0xDC00 || *low >= 0xE000) return false;
    code_point = 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00);
  }
  utf8::append(unescaped_, code_point);
  return true;
}

// What stands between the quotes; nothing if there are none or it is no text.
std::optional<std::string_view> Scanner::string() {
  if (!take('"')) return {};
  size_t begin = at_;
  skip_plain();
  if (looking_at('"')) return text_.substr(begin, at_++ - begin);
  unescaped_.clear();
  while (true) {
    unescaped_ += text_.substr(begin, at_ - begin);
    if (take('"')) return unescaped_;
    if (!take('\\') || !escape()) return {};
    begin = at_;
    skip_plain();
  }
}

ScanOutcome Scanner::string_value() {
  const auto text = string();
  return text ? told(events_.string(*text)) : ScanOutcome::malformed;
}

ScanOutcome Scanner::tell_number(std::string_view digits, bool is_whole) {
  const char* begin = digits.data();
  const char* end = begin + digits.size();
  if (is_whole && digits.front() == '-') {
    int64_t number = 0;
    if (std::from_chars(begin, end, number).ec == std::errc()) return told(events_.integer(number));
  } else if (is_whole) {
    uint64_t number = 0;
    if (std::from_chars(begin, end, number).ec == std::errc()) {
      return told(events_.unsigned_integer(number));
    }
  }
  double number = 0;
  if (std::from_chars(begin, end, number).ec != std::errc()) return ScanOutcome::malformed;
  return told(events_.real(number));
}

ScanOutcome Scanner::number() {
  const size_t begin = at_;
  take('-');
  if (!take('0') && !skip_digits()) return ScanOutcome::malformed;
  const size_t whole_end = at_;
  if (take('.') && !skip_digits()) return ScanOutcome::malformed;
  if (take('e') || take('E')) {
    if (!take('+')) take('-');
    if (!skip_digits()) return ScanOutcome::malformed;
  }
  return tell_number(text_.substr(begin, at_ - begin), at_ == whole_end);
}

ScanOutcome Scanner::open(Container container) {
  ++at_;
  open_.push_back(container);
  is_first_ = true;
  return told(container == Container::object ? events_.start_object() : events_.start_array());
}

ScanOutcome Scanner::close() {
  const Container container = open_.back();
  open_.pop_back();
  is_first_ = false;
  return told(container == Container::object ? events_.end_object() : events_.end_array());
}

ScanOutcome Scanner::value() {
  if (at_end()) return ScanOutcome::malformed;
  switch (text_[at_]) {
    case '"':
      return string_value();
    case '{':
      return open(Container::object);
    case '[':
      return open(Container::array);
    case 't':
      return take("true") ? told(events_.boolean(true)) : ScanOutcome::malformed;
    case 'f':
      return take("false") ? told(events_.boolean(false)) : ScanOutcome::malformed;
    case 'n':
      return take("null") ? told(events_.null()) : ScanOutcome::malformed;
    default:
      return number();
  }
}

ScanOutcome Scanner::name() {
  const auto text = string();
  if (!text) return ScanOutcome::malformed;
  if (!events_.key(*text)) return ScanOutcome::stopped;
  skip_space();
  if (!take(':')) return ScanOutcome::malformed;
  skip_space();
  return ScanOutcome::complete;
}

// The next member of the innermost container or, if that is a container itself, its beginning; or
// the end.
ScanOutcome Scanner::member() {
  const bool in_object = open_.back() == Container::object;
  if (take(in_object ? '}' : ']')) return close();
  if (!is_first_) {
    if (!take(',')) return ScanOutcome::malformed;
    skip_space();
  }
  is_first_ = false;
  if (in_object) {
    if (const ScanOutcome outcome = name(); outcome != ScanOutcome::complete) return outcome;
  }
  return value();
}

ScanOutcome Scanner::run() {
  take(kByteOrderMark);
  skip_space();
  ScanOutcome outcome = value();
  while (outcome == ScanOutcome::complete && !open_.empty()) {
    skip_space();
    outcome = member();
  }
  if (outcome != ScanOutcome::complete) return outcome;
  skip_space();
  return at_end() ? ScanOutcome::complete : ScanOutcome::malformed;
}

}  // namespace

Scan scan(std::string_view text, Events& events) {
  Scanner scanner(text, events);
  const ScanOutcome outcome = scanner.run();
  return {.outcome = outcome, .offset = scanner.offset()};
}

}  // namespace evener::json
