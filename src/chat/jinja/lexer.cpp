#include "chat/jinja/lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "chat/jinja/string_literal.h"
#include "chat/jinja/syntax_error.h"
#include "chat/jinja/text.h"

namespace evener::chat::jinja {
namespace {

using Kind = Token::Kind;

// Longest first, so that "**" is not read as "*" twice.
constexpr std::string_view kSymbols[] = {"//", "**", "==", "!=", "<=", ">=", "+", "-", "*",
                                         "/",  "%",  "~",  "<",  ">",  "=",  "(", ")", "[",
                                         "]",  "{",  "}",  ",",  ".",  ":",  "|"};

std::string normalise_lines(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      text += source[i];
    } else if (i + 1 == source.size() || source[i + 1] != '\n') {
      text += '\n';
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Lexer {
 public:
  Lexer(std::string_view source, const TemplateLimits& limits) : source_(source), limits_(limits) {}

  Result<std::vector<Token>> run() {
    while (position_ < source_.size()) {
      RETURN_IF_ERROR(read_text());
      if (position_ < source_.size()) RETURN_IF_ERROR(read_tag());
    }
    RETURN_IF_ERROR(push(Kind::end, ""));
    return std::move(tokens_);
  }

 private:
  char at(size_t position) const { return position < source_.size() ? source_[position] : '\0'; }
  bool ahead(std::string_view text) const { return source_.substr(position_).starts_with(text); }

  // Moves on and counts the lines passed.
  void advance(size_t num_bytes) {
    const auto passed = source_.substr(position_, num_bytes);
    line_ += static_cast<int>(std::count(passed.begin(), passed.end(), '\n'));
    position_ += passed.size();
  }

  Status push(Kind kind, std::string value) {
    if (tokens_.size() >= limits_.num_tokens) {
      return template_too_large(
          line_, fmt::format("the template has more than {} tokens", limits_.num_tokens));
    }
    tokens_.push_back({.kind = kind, .value = std::move(value), .line = line_});
    return {};
  }

  size_t find_tag(size_t from) const {
    for (size_t i = source_.find('{', from); i != source_.npos; i = source_.find('{', i + 1)) {
      const char next = at(i + 1);
      if (next == '{' || next == '%' || next == '#') return i;
    }
    return source_.size();
  }

  // The text up to the next tag, less what the tag's whitespace control takes from its end.
  Status read_text() {
    const size_t tag = find_tag(position_);
    std::string_view text = source_.substr(position_, tag - position_);
    if (tag < source_.size()) {
      const char sign = at(tag + 2);
      if (sign == '-') {
        text = strip_end(text);
      } else if (sign != '+' && at(tag + 1) != '{') {
        text = without_indentation(text);
      }
    }
    if (!text.empty()) RETURN_IF_ERROR(push(Kind::text, std::string(text)));
    advance(tag - position_);
    return {};
  }

  std::string_view without_indentation(std::string_view text) const {
    const size_t newline = text.rfind('\n');
    const size_t line_begin = newline == text.npos ? 0 : newline + 1;
    const bool at_line_start = line_begin > 0 || position_ == 0 || source_[position_ - 1] == '\n';
    const bool blank = strip_end(text.substr(line_begin)).empty();
    return at_line_start && blank ? text.substr(0, line_begin) : text;
  }

  Status read_tag() {
    const char kind = at(position_ + 1);
    if (kind == '#') return read_comment();
    if (kind == '%') {
      ASSIGN_OR_RETURN(const bool raw, read_raw());
      if (raw) return {};
    }
    RETURN_IF_ERROR(push(kind == '%' ? Kind::block_begin : Kind::output_begin, ""));
    advance(2);
    // "{{+" has no meaning of its own: there the plus is an operator.
    if (at(position_) == '-' || (kind == '%' && at(position_) == '+')) advance(1);
    return read_inside(kind == '%');
  }

  // What follows a closing tag: "-" took the whitespace, "+" keeps it, trim_blocks takes a newline.
  void after_close(char sign, bool trims_newline) {
    if (sign == '-') {
      const auto rest = source_.substr(position_);
      advance(rest.size() - strip_begin(rest).size());
    } else if (sign != '+' && trims_newline && at(position_) == '\n') {
      advance(1);
    }
  }

  Status read_comment() {
    const size_t close = source_.find("#}", position_ + 2);
    if (close == source_.npos) return syntax_error(line_, "a comment {# is never closed");
    const char sign = close > position_ + 2 ? source_[close - 1] : '\0';
    advance(close + 2 - position_);
    after_close(sign, true);
    return {};
  }

  // {% word %} at `from`: where it ends, or npos. `sign` becomes that of its end.
  size_t match_word_tag(size_t from, std::string_view word, char& sign) const {
    size_t i = from + 2;
    if (at(i) == '-' || at(i) == '+') ++i;
    while (is_space(at(i))) ++i;
    if (!source_.substr(std::min(i, source_.size())).starts_with(word)) return source_.npos;
    i += word.size();
    while (is_space(at(i))) ++i;
    sign = at(i);
    if (sign == '-' || sign == '+') ++i;
    return at(i) == '%' && at(i + 1) == '}' ? i + 2 : source_.npos;
  }

  // {% raw %} ... {% endraw %}: the inside is text. True if there was one here.
  Result<bool> read_raw() {
    char sign = '\0';
    const size_t begin = match_word_tag(position_, "raw", sign);
    if (begin == source_.npos) return false;
    const int line = line_;
    advance(begin - position_);
    after_close(sign, false);
    for (size_t i = source_.find("{%", position_); i != source_.npos;
         i = source_.find("{%", i + 2)) {
      const size_t end = match_word_tag(i, "endraw", sign);
      if (end == source_.npos) continue;
      std::string_view text = source_.substr(position_, i - position_);
      if (at(i + 2) == '-')
        text = strip_end(text);
      else if (at(i + 2) != '+')
        text = without_indentation(text);
      RETURN_IF_ERROR(push(Kind::text, std::string(text)));
      advance(end - position_);
      after_close(sign, true);
      return true;
    }
    return syntax_error(line, "{% raw %} is never closed");
  }

  // Tokens up to and with the closing tag.
  Status read_inside(bool is_block) {
    const int opened = line_;
    const std::string_view close = is_block ? "%}" : "}}";
    brackets_.clear();
    while (position_ < source_.size()) {
      const char c = at(position_);
      if (is_space(c)) {
        advance(1);
        continue;
      }
      if (brackets_.empty()) {
        const bool signed_close = c == '-' || (is_block && c == '+');
        const size_t offset = signed_close ? 1 : 0;
        if (source_.substr(position_ + offset).starts_with(close)) {
          RETURN_IF_ERROR(push(is_block ? Kind::block_end : Kind::output_end, ""));
          advance(offset + 2);
          after_close(offset == 1 ? c : '\0', is_block);
          return {};
        }
      }
      RETURN_IF_ERROR(read_token());
    }
    return syntax_error(opened, is_block ? "{% is never closed" : "{{ is never closed");
  }

  Status read_token() {
    const char c = at(position_);
    if (is_digit(c)) return read_number();
    if (starts_name(c)) return read_name();
    if (c == '\'' || c == '"') return read_string();
    for (const std::string_view symbol : kSymbols) {
      if (!ahead(symbol)) continue;
      RETURN_IF_ERROR(track_bracket(symbol[0]));
      RETURN_IF_ERROR(push(Kind::symbol, std::string(symbol)));
      advance(symbol.size());
      return {};
    }
    return syntax_error(line_, fmt::format("unexpected character '{}'", printable({&c, 1})));
  }

  Status track_bracket(char c) {
    if (c == '(' || c == '[' || c == '{') {
      brackets_ += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (brackets_.empty() || brackets_.back() != c) {
        return syntax_error(line_, fmt::format("unexpected '{}'", c));
      }
      brackets_.pop_back();
    }
    return {};
  }

  Status read_name() {
    size_t end = position_;
    while (starts_name(at(end)) || is_digit(at(end))) ++end;
    RETURN_IF_ERROR(push(Kind::name, std::string(source_.substr(position_, end - position_))));
    advance(end - position_);
    return {};
  }

  size_t digits_end(size_t from, auto accept) const {
    while (accept(at(from)) || (at(from) == '_' && accept(at(from + 1)))) ++from;
    return from;
  }

  size_t exponent_end(size_t from) const {
    if (at(from) != 'e' && at(from) != 'E') return from;
    const size_t digits = from + 1 + (at(from + 1) == '+' || at(from + 1) == '-' ? 1 : 0);
    return is_digit(at(digits)) ? digits_end(digits, is_digit) : from;
  }

  Status read_number() {
    const char prefix = static_cast<char>(at(position_ + 1) | 0x20);
    const bool prefixed = at(position_) == '0' && (prefix == 'x' || prefix == 'o' || prefix == 'b');
    size_t end = position_;
    Kind kind = Kind::integer;
    if (prefixed) {
      end = digits_end(position_ + 2, [](char c) { return hex_digit(c) >= 0; });
    } else {
      end = digits_end(position_, is_digit);
      const bool after_dot = !tokens_.empty() && tokens_.back().is_symbol(".");
      size_t real_end = end;
      if (at(end) == '.' && is_digit(at(end + 1))) real_end = digits_end(end + 1, is_digit);
      real_end = exponent_end(real_end);
      if (real_end != end && !after_dot) {
        end = real_end;
        kind = Kind::real;
      }
    }
    std::string digits(source_.substr(position_, end - position_));
    std::erase(digits, '_');
    RETURN_IF_ERROR(push(kind, std::move(digits)));
    advance(end - position_);
    return {};
  }

  Status read_string() {
    const char quote = at(position_);
    size_t end = position_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) return syntax_error(line_, "a string is never closed");
    const auto literal = source_.substr(position_ + 1, end - position_ - 1);
    auto text = unescape(literal);
    if (!text) return syntax_error(line_, std::move(text).error().why);
    RETURN_IF_ERROR(push(Kind::string, *std::move(text)));
    advance(end + 1 - position_);
    return {};
  }

  std::string_view source_;
  const TemplateLimits& limits_;
  size_t position_ = 0;
  int line_ = 1;
  std::string brackets_;  // the closing ones that are due; inside them }} does not end a tag
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view source, const TemplateLimits& limits) {
  if (source.size() > limits.source_bytes) {
    return template_too_large(1, fmt::format("the template has {} bytes, at most {} are read",
                                             source.size(), limits.source_bytes));
  }
  const std::string text = normalise_lines(source);
  return Lexer(text, limits).run();
}

}  // namespace evener::chat::jinja
