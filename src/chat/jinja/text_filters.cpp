#include <fmt/format.h>

#include "base/utf8.h"
#include "chat/jinja/compare.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/members.h"
#include "chat/jinja/methods.h"
#include "chat/jinja/parameters.h"
#include "chat/jinja/percent_format.h"
#include "chat/jinja/print.h"
#include "chat/jinja/text.h"
#include "chat/jinja/text_sink.h"
#include "chat/jinja/title_case.h"

namespace evener::chat::jinja {
namespace {

// Filters of texts take anything and read it as {{ }} would print it.
Result<Value> as_text(Context& context, const Value& input) {
  if (input.text() != nullptr) return input;
  ASSIGN_OR_RETURN(std::string text, to_text(context.budget, input));
  return make_string(context.budget, std::move(text));
}

Result<Value> string(Context& context, const Value& input, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("string", arguments, {}));
  return as_text(context, input);
}

// Nothing is escaped on its own, so nothing has to be marked as safe.
Result<Value> safe(Context&, const Value& input, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("safe", arguments, {}));
  return input;
}

using Mapping = std::string (*)(std::string_view);

template <Mapping kMap>
Result<Value> mapped_filter(Context& context, const Value& input, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("filter", arguments, {}));
  ASSIGN_OR_RETURN(const Value text, as_text(context, input));
  RETURN_IF_ERROR(context.budget.bytes_work(text.text()->size()));
  return make_string(context.budget, kMap(*text.text()));
}

// A filter that is a method of the text.
template <const char* kMethod>
Result<Value> method(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Value text, as_text(context, input));
  return call_method(context, text, kMethod, arguments);
}

constexpr char kStrip[] = "strip";
constexpr char kReplace[] = "replace";

Result<Value> center(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind("center", arguments, {"width"}));
  ASSIGN_OR_RETURN(const int64_t width, given.integer(0, 80));
  ASSIGN_OR_RETURN(const Value text, as_text(context, input));
  return call_method(context, text, "center", {.positional = {Value::integer(width)}, .named = {}});
}

Result<Value> escape(Context& context, const Value& input, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("escape", arguments, {}));
  ASSIGN_OR_RETURN(const Value text, as_text(context, input));
  std::string out;
  for (const char c : *text.text()) {
    RETURN_IF_ERROR(context.budget.check_string(out.size()));
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&#34;";
    else if (c == '\'')
      out += "&#39;";
    else
      out += c;
  }
  return make_string(context.budget, std::move(out));
}

Result<std::string> indentation(Context& context, const Parameters& given) {
  if (given[0].text() != nullptr) return *given[0].text();
  ASSIGN_OR_RETURN(const int64_t width, given.integer(0, 4));
  if (width < 0) return std::string();
  RETURN_IF_ERROR(context.budget.check_string(static_cast<size_t>(width)));
  return std::string(static_cast<size_t>(width), ' ');
}

Result<Value> indent(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given,
                   Parameters::bind("indent", arguments, {"width", "first", "blank"}));
  ASSIGN_OR_RETURN(const Value value, as_text(context, input));
  ASSIGN_OR_RETURN(const std::string spaces, indentation(context, given));
  const bool blank = given.flag(2, false);
  // A line end at the very end begins an empty line, which Python's splitlines would not report.
  const std::string text = *value.text() + "\n";
  TextSink sink(context.budget);
  bool first_line = true;
  for (std::string_view rest = text; !rest.empty(); first_line = false) {
    const std::string_view line = take_line(rest);
    if (!first_line) RETURN_IF_ERROR(sink.append("\n"));
    const bool indents = first_line ? given.flag(1, false) : blank || !line.empty();
    if (indents) RETURN_IF_ERROR(sink.append(spaces));
    RETURN_IF_ERROR(sink.append(line));
  }
  return make_string(context.budget, sink.take());
}

Result<JsonStyle> json_style(const Parameters& given) {
  JsonStyle style;
  style.ascii_only = given.flag(0, false);
  style.sort_keys = given.flag(3, false);
  if (given.given(1) && !given[1].is_none()) {
    ASSIGN_OR_RETURN(const int64_t indent, given.integer(1, 0));
    style.indent = std::max<int64_t>(indent, 0);
    style.item_separator = ",";
  }
  if (!given.given(2) || given[2].is_none()) return style;
  const List* separators = given[2].list();
  const bool two_texts = separators != nullptr && separators->items.size() == 2 &&
                         separators->items[0].text() != nullptr &&
                         separators->items[1].text() != nullptr;
  if (!two_texts) return refuse("the separators of tojson must be two strings");
  style.item_separator = *separators->items[0].text();
  style.key_separator = *separators->items[1].text();
  return style;
}

// Hugging Face's, not Jinja's: no HTML escapes, keys in the order of the mapping.
Result<Value> tojson(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(
      const Parameters given,
      Parameters::bind("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"}));
  ASSIGN_OR_RETURN(const JsonStyle style, json_style(given));
  ASSIGN_OR_RETURN(std::string text, to_json(context.budget, input, style));
  return make_string(context.budget, std::move(text));
}

Result<Value> format(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Value text, as_text(context, input));
  if (!arguments.positional.empty() && !arguments.named.empty()) {
    return refuse("format() takes either positional or named arguments");
  }
  std::vector<std::pair<Value, Value>> named;
  for (const auto& [name, value] : arguments.named) {
    ASSIGN_OR_RETURN(Value key, make_string(context.budget, name));
    named.emplace_back(std::move(key), value);
  }
  ASSIGN_OR_RETURN(const Value values, named.empty()
                                           ? make_tuple(context.budget, arguments.positional)
                                           : make_dict(context.budget, std::move(named)));
  return percent_format(context.budget, *text.text(), values);
}

Result<Value> wordcount(Context& context, const Value& input, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("wordcount", arguments, {}));
  ASSIGN_OR_RETURN(const Value text, as_text(context, input));
  RETURN_IF_ERROR(context.budget.bytes_work(text.text()->size()));
  int64_t count = 0;
  bool inside = false;
  for_each_character(*text.text(), [&](std::string_view character) {
    const char32_t c = utf8::decode(character, 0).code_point;
    const bool in_word = c == '_' || (c >= '0' && c <= '9') || is_alpha(c);
    count += in_word && !inside ? 1 : 0;
    inside = in_word;
  });
  return Value::integer(count);
}

Result<Value> truncate(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(
      const Parameters given,
      Parameters::bind("truncate", arguments, {"length", "killwords", "end", "leeway"}));
  ASSIGN_OR_RETURN(const int64_t size_max, given.integer(0, 255));
  ASSIGN_OR_RETURN(const std::string_view end, given.text(2, "..."));
  ASSIGN_OR_RETURN(const int64_t leeway, given.integer(3, 5));
  ASSIGN_OR_RETURN(const Value text, as_text(context, input));
  RETURN_IF_ERROR(context.budget.bytes_work(text.text()->size()));
  const auto size = static_cast<int64_t>(length(*text.text()));
  const auto end_size = static_cast<int64_t>(length(end));
  if (size_max < end_size || leeway < 0) return refuse("truncate() needs a larger length");
  if (size - size_max <= leeway) return text;
  const auto num_kept = static_cast<size_t>(size_max - end_size);
  std::string kept = text.text()->substr(0, byte_offset(*text.text(), num_kept));
  const size_t space = kept.rfind(' ');
  if (!given.flag(1, false) && space != kept.npos) kept.resize(space);
  return make_string(context.budget, kept + std::string(end));
}

constexpr Filter kTextFilters[] = {
    {"string", string},
    {"safe", safe},
    {"upper", mapped_filter<upper>},
    {"lower", mapped_filter<lower>},
    {"title", mapped_filter<title_filter>},
    {"capitalize", mapped_filter<capitalize>},
    {"trim", method<kStrip>},
    {"replace", method<kReplace>},
    {"center", center},
    {"escape", escape},
    {"e", escape},
    {"forceescape", escape},
    {"indent", indent},
    {"tojson", tojson},
    {"format", format},
    {"wordcount", wordcount},
    {"truncate", truncate},
};

}  // namespace

std::span<const Filter> text_filters() { return kTextFilters; }

}  // namespace evener::chat::jinja
