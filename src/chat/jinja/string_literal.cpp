#include "chat/jinja/string_literal.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "chat/jinja/failure.h"

namespace evener::chat::jinja {
namespace {

class Unescaper {
 public:
  explicit Unescaper(std::string_view literal) : literal_(literal) {}

  Result<std::string> run() {
    while (position_ < literal_.size()) {
      const char c = literal_[position_++];
      if (c != '\\' || position_ == literal_.size()) {
        out_ += c;
      } else {
        RETURN_IF_ERROR(escape(literal_[position_++]));
      }
    }
    return std::move(out_);
  }

 private:
  Status escape(char c) {
    static constexpr std::string_view kLetters = "abfnrtv\\'\"";
    static constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"";
    if (c == '\n') return {};
    if (c == 'x') return code_point(2);
    if (c == 'u') return code_point(4);
    if (c == 'U') return code_point(8);
    if (c >= '0' && c <= '7') return octal(c);
    const size_t index = kLetters.find(c);
    if (index == kLetters.npos)
      out_ += {'\\', c};
    else
      out_ += kMeanings[index];
    return {};
  }

  Status octal(char first) {
    auto value = static_cast<char32_t>(first - '0');
    for (int i = 0; i < 2 && position_ < literal_.size(); ++i, ++position_) {
      const char c = literal_[position_];
      if (c < '0' || c > '7') break;
      value = value * 8 + static_cast<char32_t>(c - '0');
    }
    utf8::append(out_, value);
    return {};
  }

  // \ud83d\ude00 names one character beyond U+FFFF by its two halves.
  Status code_point(size_t num_digits) {
    ASSIGN_OR_RETURN(char32_t value, hex(num_digits));
    if (value >= 0xd800 && value < 0xdc00 && literal_.substr(position_).starts_with("\\u")) {
      position_ += 2;
      ASSIGN_OR_RETURN(const char32_t low, hex(4));
      if (low >= 0xdc00 && low < 0xe000) value = 0x10000 + ((value - 0xd800) << 10) + low - 0xdc00;
    }
    if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
      return refuse(fmt::format("there is no character U+{:04X}", static_cast<uint32_t>(value)));
    }
    utf8::append(out_, value);
    return {};
  }

  Result<char32_t> hex(size_t num_digits) {
    char32_t value = 0;
    for (size_t i = 0; i < num_digits; ++i, ++position_) {
      const int digit = position_ < literal_.size() ? hex_digit(literal_[position_]) : -1;
      if (digit < 0) {
        return refuse(fmt::format("a string's escape needs {} hexadecimal digits", num_digits));
      }
      value = value * 16 + static_cast<char32_t>(digit);
    }
    return value;
  }

  std::string_view literal_;
  size_t position_ = 0;
  std::string out_;
};

}  // namespace

Result<std::string> unescape(std::string_view literal) { return Unescaper(literal).run(); }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace evener::chat::jinja
