#include "chat/jinja/print.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "base/utf8.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/function.h"
#include "chat/jinja/text_sink.h"

namespace evener::chat::jinja {
namespace {

void append_escaped(std::string& out, char c, char quote) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == quote || c == '\\')
    out += {'\\', c};
  else if (c == '\n')
    out += "\\n";
  else if (c == '\r')
    out += "\\r";
  else if (c == '\t')
    out += "\\t";
  else if (byte < 0x20 || byte == 0x7f)
    out += fmt::format("\\x{:02x}", byte);
  else
    out += c;
}

// Python's choice: double quotes only for a text with single and without double ones. Printing
// characters stay as they are.
Status append_quoted(TextSink& sink, std::string_view text) {
  const bool use_double = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char quote = use_double ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    append_escaped(out, c, quote);
    if (out.size() < TextSink::kPieceBytes) continue;
    RETURN_IF_ERROR(sink.append(out));
    out.clear();
  }
  return sink.append(out + quote);
}

class Printer {
 public:
  explicit Printer(Budget& budget) : sink_(budget) {}

  Status print(const Value& value) {
    RETURN_IF_ERROR(sink_.budget().work());
    if (value.is_none()) return sink_.append("None");
    if (const bool* flag = value.as<bool>()) return sink_.append(*flag ? "True" : "False");
    if (const int64_t* number = value.as<int64_t>()) return sink_.append(fmt::to_string(*number));
    if (const double* number = value.as<double>()) return sink_.append(float_text(*number));
    if (const std::string* text = value.text()) return append_quoted(sink_, *text);
    if (const List* list = value.list()) return print_list(*list);
    if (const Dict* dict = value.dict()) return print_dict(*dict);
    if (value.is_undefined()) return sink_.append("Undefined");
    if (const Namespace* names = value.name_space()) return print_namespace(*names);
    return sink_.append(fmt::format("<{}>", value.type()));
  }

  std::string take() { return sink_.take(); }

 private:
  Status print_list(const List& list) {
    RETURN_IF_ERROR(sink_.append(list.is_tuple ? "(" : "["));
    for (size_t i = 0; i < list.items.size(); ++i) {
      if (i != 0) RETURN_IF_ERROR(sink_.append(", "));
      RETURN_IF_ERROR(print(list.items[i]));
    }
    if (!list.is_tuple) return sink_.append("]");
    return sink_.append(list.items.size() == 1 ? ",)" : ")");
  }

  Status print_entry(const Value& key, const Value& value, bool first) {
    if (!first) RETURN_IF_ERROR(sink_.append(", "));
    RETURN_IF_ERROR(print(key));
    RETURN_IF_ERROR(sink_.append(": "));
    return print(value);
  }

  Status print_dict(const Dict& dict) {
    RETURN_IF_ERROR(sink_.append("{"));
    bool first = true;
    for (const auto& [key, value] : dict.entries()) {
      RETURN_IF_ERROR(print_entry(key, value, std::exchange(first, false)));
    }
    return sink_.append("}");
  }

  // A namespace can hold itself: its insides are not printed.
  Status print_namespace(const Namespace& names) {
    return sink_.append(fmt::format("<Namespace of {}>", names.members.size()));
  }

  TextSink sink_;
};

}  // namespace

std::string float_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer{};
  const double magnitude = std::abs(number);
  const bool scientific = magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16);
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                    scientific ? std::chars_format::scientific : std::chars_format::fixed);
  std::string text(buffer.data(), end.ptr);
  if (!scientific && text.find('.') == text.npos) text += ".0";
  return text;
}

Result<std::string> to_text(Budget& budget, const Value& value) {
  if (value.is_undefined()) return std::string();
  if (const std::string* text = value.text()) return *text;
  return to_repr(budget, value);
}

Result<std::string> to_repr(Budget& budget, const Value& value) {
  Printer printer(budget);
  RETURN_IF_ERROR(printer.print(value));
  return printer.take();
}

}  // namespace evener::chat::jinja
