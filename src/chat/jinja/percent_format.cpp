#include "chat/jinja/percent_format.h"

#include <fmt/format.h>

#include <cmath>

#include "chat/jinja/compare.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/print.h"
#include "chat/jinja/text.h"
#include "chat/jinja/text_sink.h"

namespace evener::chat::jinja {
namespace {

constexpr int64_t kPrecisionMax = 100;

struct Specification {
  std::string flags;
  int64_t width = 0;
  int64_t precision = -1;
  char conversion = '\0';

  bool has(char flag) const { return flags.find(flag) != flags.npos; }
};

class PercentFormatter {
 public:
  PercentFormatter(Budget& budget, std::string_view format, const Value& arguments)
      : sink_(budget), format_(format), arguments_(arguments) {}

  Result<Value> run() {
    while (position_ < format_.size()) {
      const size_t percent = std::min(format_.find('%', position_), format_.size());
      RETURN_IF_ERROR(sink_.append(format_.substr(position_, percent - position_)));
      position_ = percent + 1;
      if (percent < format_.size()) RETURN_IF_ERROR(directive());
    }
    const List* tuple = this->tuple();
    const bool unused = tuple != nullptr ? num_used_ < tuple->items.size()
                                         : num_used_ == 0 && arguments_.dict() == nullptr;
    if (unused) return refuse("not all arguments of % were used by its format");
    return make_string(sink_.budget(), sink_.take());
  }

 private:
  const List* tuple() const {
    const List* list = arguments_.list();
    return list != nullptr && list->is_tuple ? list : nullptr;
  }

  char peek() const { return position_ < format_.size() ? format_[position_] : '\0'; }

  Result<int64_t> number() {
    int64_t value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++position_) {
      value = value * 10 + (peek() - '0');
      if (value > INT32_MAX) return too_much("a width in a format is too large");
    }
    return value;
  }

  Status directive() {
    if (peek() == '%') {
      ++position_;
      return sink_.append("%");
    }
    ASSIGN_OR_RETURN(const Value value, argument());
    Specification spec;
    while (std::string_view("-+ 0#").find(peek()) != std::string_view::npos && peek() != '\0') {
      spec.flags += format_[position_++];
    }
    ASSIGN_OR_RETURN(spec.width, number());
    if (peek() == '.') {
      ++position_;
      ASSIGN_OR_RETURN(spec.precision, number());
    }
    spec.conversion = peek();
    ++position_;
    ASSIGN_OR_RETURN(const std::string text, convert(spec, value));
    return pad(spec, text);
  }

  Result<Value> argument() {
    if (peek() == '(') return named_argument();
    const List* list = tuple();
    if (list == nullptr) {
      if (num_used_++ > 0) return refuse("% has fewer arguments than its format needs");
      return arguments_;
    }
    if (num_used_ >= list->items.size()) {
      return refuse("% has fewer arguments than its format needs");
    }
    return list->items[num_used_++];
  }

  Result<Value> named_argument() {
    const size_t close = format_.find(')', position_);
    const Dict* dict = arguments_.dict();
    if (close == format_.npos) return refuse("a name in a format is never closed");
    if (dict == nullptr) return refuse("a format with names needs a mapping");
    const Value* found = dict->find(format_.substr(position_ + 1, close - position_ - 1));
    if (found == nullptr) return refuse("a name in a format is not in the mapping");
    position_ = close + 1;
    return *found;
  }

  Result<std::string> convert(const Specification& spec, const Value& value) {
    switch (spec.conversion) {
      case 's':
      case 'r':
      case 'a': {
        ASSIGN_OR_RETURN(std::string text, spec.conversion == 's' ? to_text(sink_.budget(), value)
                                                                  : to_repr(sink_.budget(), value));
        return spec.precision < 0
                   ? text
                   : text.substr(0, byte_offset(text, static_cast<size_t>(spec.precision)));
      }
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        return convert_integer(spec, value);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return convert_real(spec, value);
      default:
        return refuse("a format has a conversion that Python does not know");
    }
  }

  static std::string sign(const Specification& spec, bool negative) {
    if (negative) return "-";
    return spec.has('+') ? "+" : spec.has(' ') ? " " : "";
  }

  Result<std::string> convert_integer(const Specification& spec, const Value& value) {
    auto number = as_integer(value);
    const double* real = value.as<double>();
    if (real != nullptr && std::abs(*real) < 9e18 && spec.conversion != 'x') {
      number = static_cast<int64_t>(*real);
    }
    if (!number) return refuse(fmt::format("a format needs a number, not {}", value.type()));
    const uint64_t magnitude =
        *number < 0 ? 0 - static_cast<uint64_t>(*number) : static_cast<uint64_t>(*number);
    const char c = spec.conversion;
    const std::string prefix = !spec.has('#') ? ""
                               : c == 'x'     ? "0x"
                               : c == 'X'     ? "0X"
                               : c == 'o'     ? "0o"
                                              : "";
    const std::string digits = c == 'x'   ? fmt::format("{:x}", magnitude)
                               : c == 'X' ? fmt::format("{:X}", magnitude)
                               : c == 'o' ? fmt::format("{:o}", magnitude)
                                          : fmt::to_string(magnitude);
    return sign(spec, *number < 0) + prefix + digits;
  }

  Result<std::string> convert_real(const Specification& spec, const Value& value) {
    const auto number = as_number(value);
    if (!number) return refuse(fmt::format("a format needs a number, not {}", value.type()));
    if (spec.precision > kPrecisionMax) return too_much("a precision in a format is too large");
    const int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
    const double magnitude = std::abs(*number);
    std::string digits;
    switch (spec.conversion) {
      case 'f':
      case 'F':
        digits = fmt::format("{:.{}f}", magnitude, precision);
        break;
      case 'e':
        digits = fmt::format("{:.{}e}", magnitude, precision);
        break;
      case 'E':
        digits = fmt::format("{:.{}E}", magnitude, precision);
        break;
      case 'g':
        digits = fmt::format("{:.{}g}", magnitude, precision);
        break;
      default:
        digits = fmt::format("{:.{}G}", magnitude, precision);
    }
    return sign(spec, std::signbit(*number)) + digits;
  }

  Status pad(const Specification& spec, const std::string& text) {
    const auto width = static_cast<size_t>(spec.width);
    const size_t size = length(text);
    if (size >= width) return sink_.append(text);
    RETURN_IF_ERROR(sink_.budget().check_string(width));
    const std::string fill(width - size, ' ');
    if (spec.has('-')) return sink_.append(text + fill);
    const bool numeric = spec.conversion != 's' && spec.conversion != 'r' && spec.conversion != 'a';
    if (!spec.has('0') || !numeric) return sink_.append(fill + text);
    const size_t signs = std::string_view("+- ").find(text[0]) != std::string_view::npos ? 1 : 0;
    return sink_.append(text.substr(0, signs) + std::string(width - size, '0') +
                        text.substr(signs));
  }

  TextSink sink_;
  std::string_view format_;
  const Value& arguments_;
  size_t position_ = 0;
  size_t num_used_ = 0;
};

}  // namespace

Result<Value> percent_format(Budget& budget, std::string_view format, const Value& arguments) {
  return PercentFormatter(budget, format, arguments).run();
}

}  // namespace evener::chat::jinja
