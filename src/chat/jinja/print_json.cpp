#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/print.h"
#include "chat/jinja/text_sink.h"

namespace evener::chat::jinja {
namespace {

std::string escaped_unit(uint32_t unit) { return fmt::format("\\u{:04x}", unit); }

void append_escaped(std::string& out, char32_t code_point) {
  if (code_point < 0x10000) {
    out += escaped_unit(code_point);
    return;
  }
  const uint32_t offset = code_point - 0x10000;
  out += escaped_unit(0xd800 + (offset >> 10));
  out += escaped_unit(0xdc00 + (offset & 0x3ff));
}

void append_ascii(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    default:
      if (static_cast<unsigned char>(c) < 0x20)
        out += escaped_unit(static_cast<uint32_t>(c));
      else
        out += c;
  }
}

Status append_json_string(TextSink& sink, std::string_view text, bool ascii_only) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const utf8::Decoded decoded = utf8::decode(text, i);
    if (decoded.valid && decoded.code_point < 0x80)
      append_ascii(out, text[i]);
    else if (ascii_only)
      append_escaped(out, decoded.code_point);
    else
      out += text.substr(i, decoded.num_bytes);
    i += decoded.num_bytes;
    if (out.size() < TextSink::kPieceBytes) continue;
    RETURN_IF_ERROR(sink.append(out));
    out.clear();
  }
  return sink.append(out + '"');
}

std::string json_float(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  return float_text(number);
}

class JsonWriter {
 public:
  JsonWriter(Budget& budget, const JsonStyle& style) : sink_(budget), style_(style) {}

  Status write(const Value& value, size_t level) {
    RETURN_IF_ERROR(sink_.budget().work());
    if (value.is_none()) return sink_.append("null");
    if (const bool* flag = value.as<bool>()) return sink_.append(*flag ? "true" : "false");
    if (const int64_t* number = value.as<int64_t>()) return sink_.append(fmt::to_string(*number));
    if (const double* number = value.as<double>()) return sink_.append(json_float(*number));
    if (const std::string* text = value.text()) {
      return append_json_string(sink_, *text, style_.ascii_only);
    }
    if (const List* list = value.list()) return write_list(*list, level);
    if (const Dict* dict = value.dict()) return write_dict(*dict, level);
    return refuse(fmt::format("a value of type {} cannot be written as JSON", value.type()));
  }

  std::string take() { return sink_.take(); }

 private:
  Status line_break(size_t level) {
    if (style_.indent < 0) return {};
    const size_t spaces = static_cast<size_t>(style_.indent) * level;
    RETURN_IF_ERROR(sink_.budget().check_string(spaces));
    return sink_.append("\n" + std::string(spaces, ' '));
  }

  Status next_item(bool first, size_t level) {
    if (!first) RETURN_IF_ERROR(sink_.append(style_.item_separator));
    return line_break(level);
  }

  Status write_list(const List& list, size_t level) {
    if (list.items.empty()) return sink_.append("[]");
    RETURN_IF_ERROR(sink_.append("["));
    bool first = true;
    for (const Value& item : list.items) {
      RETURN_IF_ERROR(next_item(std::exchange(first, false), level + 1));
      RETURN_IF_ERROR(write(item, level + 1));
    }
    RETURN_IF_ERROR(line_break(level));
    return sink_.append("]");
  }

  // Python turns numbers, booleans and none into strings when they are keys.
  Status write_key(const Value& key) {
    if (key.text() != nullptr) return write(key, 0);
    RETURN_IF_ERROR(sink_.append("\""));
    RETURN_IF_ERROR(write(key, 0));
    return sink_.append("\"");
  }

  Status write_dict(const Dict& dict, size_t level) {
    if (dict.size() == 0) return sink_.append("{}");
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& entry : dict.entries()) entries.push_back(&entry);
    if (style_.sort_keys) RETURN_IF_ERROR(sort(entries));
    RETURN_IF_ERROR(sink_.append("{"));
    bool first = true;
    for (const auto* entry : entries) {
      RETURN_IF_ERROR(next_item(std::exchange(first, false), level + 1));
      RETURN_IF_ERROR(write_key(entry->first));
      RETURN_IF_ERROR(sink_.append(style_.key_separator));
      RETURN_IF_ERROR(write(entry->second, level + 1));
    }
    RETURN_IF_ERROR(line_break(level));
    return sink_.append("}");
  }

  Status sort(std::vector<const std::pair<Value, Value>*>& entries) {
    for (const auto* entry : entries) {
      if (entry->first.text() == nullptr) return refuse("only keys that are strings can be sorted");
    }
    RETURN_IF_ERROR(sink_.budget().work(16 * entries.size()));
    std::sort(entries.begin(), entries.end(),
              [](const auto* a, const auto* b) { return *a->first.text() < *b->first.text(); });
    return {};
  }

  TextSink sink_;
  const JsonStyle& style_;
};

}  // namespace

Result<std::string> to_json(Budget& budget, const Value& value, const JsonStyle& style) {
  JsonWriter writer(budget, style);
  RETURN_IF_ERROR(writer.write(value, 0));
  return writer.take();
}

}  // namespace evener::chat::jinja
