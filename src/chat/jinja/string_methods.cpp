#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "chat/jinja/compare.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/methods.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/parameters.h"
#include "chat/jinja/text.h"
#include "chat/jinja/title_case.h"

namespace evener::chat::jinja {
namespace {

using Views = std::vector<std::string_view>;

Result<Value> list_of(Context& context, const Views& parts) {
  RETURN_IF_ERROR(context.budget.check_elements(parts.size()));
  std::vector<Value> items;
  for (const std::string_view part : parts) {
    ASSIGN_OR_RETURN(Value item, make_string(context.budget, std::string(part)));
    items.push_back(std::move(item));
  }
  return make_list(context.budget, std::move(items));
}

using Mapping = std::string (*)(std::string_view);

template <Mapping kMap>
Result<Value> mapped_method(Context& context, const Value& self, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("str method", arguments, {}));
  RETURN_IF_ERROR(context.budget.bytes_work(self.text()->size()));
  return make_string(context.budget, kMap(*self.text()));
}

enum Sides { kBegin = 1, kEnd = 2, kBoth = 3 };

template <Sides kSides>
Result<Value> stripped(Context& context, const Value& self, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind("strip", arguments, {"chars"}));
  std::string_view text = *self.text();
  RETURN_IF_ERROR(context.budget.bytes_work(text.size()));
  if (!given.given(0) || given[0].is_none()) {
    if ((kSides & kBegin) != 0) text = strip_begin(text);
    if ((kSides & kEnd) != 0) text = strip_end(text);
  } else {
    ASSIGN_OR_RETURN(const std::string_view set, given.text(0, ""));
    RETURN_IF_ERROR(context.budget.bytes_work(text.size() * (1 + set.size() / 64)));
    if ((kSides & kBegin) != 0) text = strip_begin(text, set);
    if ((kSides & kEnd) != 0) text = strip_end(text, set);
  }
  return make_string(context.budget, std::string(text));
}

// The argument is one string or a tuple of them.
template <bool kAtEnd>
Result<Value> has_affix(Context& context, const Value& self, const Arguments& arguments) {
  const char* name = kAtEnd ? "endswith" : "startswith";
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind(name, arguments, {"affix"}));
  ASSIGN_OR_RETURN(const Value affix, given.required(0));
  const std::string& text = *self.text();
  const auto matches = [&](const std::string& part) {
    return kAtEnd ? text.ends_with(part) : text.starts_with(part);
  };
  if (affix.text() != nullptr) return Value::boolean(matches(*affix.text()));
  if (affix.list() == nullptr) {
    return refuse(
        fmt::format("{}() needs a string or a tuple of strings, not {}", name, affix.type()));
  }
  for (const Value& part : affix.list()->items) {
    RETURN_IF_ERROR(context.budget.work());
    if (part.text() == nullptr) return refuse(fmt::format("{}() needs strings", name));
    if (matches(*part.text())) return Value::boolean(true);
  }
  return Value::boolean(false);
}

// A list may have so many elements; splitting stops one behind it, and making the list fails.
size_t parts_max(const Context& context) { return context.budget.limits().num_elements; }

// Runs of whitespace separate; at most `max` splits, then the rest as it is (less its begin).
Views split_at_space(std::string_view text, int64_t max, size_t parts_max) {
  Views parts;
  for (text = strip_begin(text); !text.empty() && parts.size() <= parts_max;
       text = strip_begin(text)) {
    if (max >= 0 && static_cast<int64_t>(parts.size()) >= max) {
      parts.push_back(text);
      break;
    }
    size_t end = 0;
    while (end < text.size()) {
      const utf8::Decoded c = utf8::decode(text, end);
      if (c.valid && is_space(c.code_point)) break;
      end += c.num_bytes;
    }
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts;
}

Views split_at(std::string_view text, std::string_view separator, int64_t max, size_t parts_max) {
  Views parts;
  for (size_t at = text.find(separator); at != text.npos && max != 0 && parts.size() <= parts_max;
       at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
    --max;
  }
  parts.push_back(text);
  return parts;
}

Views split_at_from_end(std::string_view text, std::string_view separator, int64_t max,
                        size_t parts_max) {
  Views parts;
  for (size_t at = text.rfind(separator); at != text.npos && max != 0 && parts.size() <= parts_max;
       at = text.rfind(separator)) {
    parts.push_back(text.substr(at + separator.size()));
    text = text.substr(0, at);
    --max;
  }
  parts.push_back(text);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

template <bool kFromEnd>
Result<Value> split(Context& context, const Value& self, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given,
                   Parameters::bind("split", arguments, {"sep", "maxsplit"}));
  ASSIGN_OR_RETURN(const int64_t max, given.integer(1, -1));
  RETURN_IF_ERROR(context.budget.bytes_work(self.text()->size()));
  if (!given.given(0) || given[0].is_none()) {
    if (kFromEnd && max >= 0)
      return lacking("rsplit() at whitespace with a limit is not available");
    return list_of(context, split_at_space(*self.text(), max, parts_max(context)));
  }
  ASSIGN_OR_RETURN(const std::string_view separator, given.text(0, ""));
  if (separator.empty()) return refuse("split() with an empty separator");
  return list_of(context, kFromEnd
                              ? split_at_from_end(*self.text(), separator, max, parts_max(context))
                              : split_at(*self.text(), separator, max, parts_max(context)));
}

Result<Value> splitlines(Context& context, const Value& self, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("splitlines", arguments, {}));
  RETURN_IF_ERROR(context.budget.bytes_work(self.text()->size()));
  Views lines;
  for (std::string_view rest = *self.text(); !rest.empty() && lines.size() <= parts_max(context);) {
    lines.push_back(take_line(rest));
  }
  return list_of(context, lines);
}

template <bool kFromEnd>
Result<Value> partition(Context& context, const Value& self, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind("partition", arguments, {"sep"}));
  RETURN_IF_ERROR(given.required(0));
  ASSIGN_OR_RETURN(const std::string_view separator, given.text(0, ""));
  if (separator.empty()) return refuse("partition() with an empty separator");
  const std::string_view text = *self.text();
  RETURN_IF_ERROR(context.budget.bytes_work(text.size()));
  const size_t at = kFromEnd ? text.rfind(separator) : text.find(separator);
  Views parts = kFromEnd ? Views{"", "", text} : Views{text, "", ""};
  if (at != text.npos) {
    parts = {text.substr(0, at), separator, text.substr(at + separator.size())};
  }
  ASSIGN_OR_RETURN(const Value list, list_of(context, parts));
  return make_tuple(context.budget, list.list()->items);
}

Result<Value> join(Context& context, const Value& self, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind("join", arguments, {"iterable"}));
  ASSIGN_OR_RETURN(const std::vector<Value> items, elements(context.budget, given[0]));
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].text() == nullptr) {
      return refuse(fmt::format("join() needs strings, not {}", items[i].type()));
    }
    if (i != 0) out += *self.text();
    out += *items[i].text();
    RETURN_IF_ERROR(context.budget.check_string(out.size()));
  }
  return make_string(context.budget, std::move(out));
}

template <bool kFromEnd, bool kMustExist>
Result<Value> find(Context& context, const Value& self, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind("find", arguments, {"sub"}));
  RETURN_IF_ERROR(given.required(0));
  ASSIGN_OR_RETURN(const std::string_view part, given.text(0, ""));
  const std::string_view text = *self.text();
  RETURN_IF_ERROR(context.budget.bytes_work(text.size()));
  const size_t at = kFromEnd ? text.rfind(part) : text.find(part);
  if (at != text.npos) return Value::integer(static_cast<int64_t>(length(text.substr(0, at))));
  if (kMustExist) return refuse("index() did not find the text");
  return Value::integer(-1);
}

Result<Value> count(Context& context, const Value& self, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind("count", arguments, {"sub"}));
  RETURN_IF_ERROR(given.required(0));
  ASSIGN_OR_RETURN(const std::string_view part, given.text(0, ""));
  RETURN_IF_ERROR(context.budget.bytes_work(self.text()->size()));
  if (part.empty()) return Value::integer(static_cast<int64_t>(length(*self.text())) + 1);
  int64_t found = 0;
  for (size_t at = self.text()->find(part); at != std::string::npos;
       at = self.text()->find(part, at + part.size())) {
    ++found;
  }
  return Value::integer(found);
}

template <bool kAtEnd>
Result<Value> remove_affix(Context& context, const Value& self, const Arguments& arguments) {
  const char* name = kAtEnd ? "removesuffix" : "removeprefix";
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind(name, arguments, {"affix"}));
  RETURN_IF_ERROR(given.required(0));
  ASSIGN_OR_RETURN(const std::string_view affix, given.text(0, ""));
  std::string_view text = *self.text();
  if (!kAtEnd && text.starts_with(affix)) text.remove_prefix(affix.size());
  if (kAtEnd && text.ends_with(affix)) text.remove_suffix(affix.size());
  return make_string(context.budget, std::string(text));
}

using Predicate = bool (*)(char32_t);

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char32_t c) { return is_digit(c) || is_alpha(c); }

// True for a text that is not empty and whose characters all pass.
template <Predicate kAccepts>
Result<Value> all_characters(Context& context, const Value& self, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("str method", arguments, {}));
  const std::string& text = *self.text();
  RETURN_IF_ERROR(context.budget.bytes_work(text.size()));
  for (size_t i = 0; i < text.size();) {
    const utf8::Decoded c = utf8::decode(text, i);
    if (!c.valid || !kAccepts(c.code_point)) return Value::boolean(false);
    i += c.num_bytes;
  }
  return Value::boolean(!text.empty());
}

// islower, isupper: at least one letter has case, and none has the other one.
template <Predicate kWanted, Predicate kUnwanted>
Result<Value> has_case(Context& context, const Value& self, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("str method", arguments, {}));
  const std::string& text = *self.text();
  RETURN_IF_ERROR(context.budget.bytes_work(text.size()));
  bool found = false;
  for (size_t i = 0; i < text.size();) {
    const utf8::Decoded c = utf8::decode(text, i);
    if (c.valid && kUnwanted(c.code_point)) return Value::boolean(false);
    found = found || (c.valid && kWanted(c.code_point));
    i += c.num_bytes;
  }
  return Value::boolean(found);
}

struct Replacement {
  std::string_view from;
  std::string_view to;
  int64_t max;  // negative: all
};

// replace("", to): before every character and at the end.
Status insert_between(Budget& budget, std::string_view text, std::string_view to, int64_t max,
                      std::string& out) {
  for (;;) {
    if (max != 0) out += to;
    if (max > 0) --max;
    if (text.empty()) return {};
    const size_t num_bytes = utf8::decode(text, 0).num_bytes;
    out += text.substr(0, num_bytes);
    text.remove_prefix(num_bytes);
    RETURN_IF_ERROR(budget.check_string(out.size()));
  }
}

Status replace_all(Budget& budget, std::string_view text, const Replacement& replacement,
                   std::string& out) {
  int64_t max = replacement.max;
  for (size_t at = text.find(replacement.from); at != text.npos && max != 0;
       at = text.find(replacement.from)) {
    out += text.substr(0, at);
    out += replacement.to;
    text.remove_prefix(at + replacement.from.size());
    --max;
    RETURN_IF_ERROR(budget.check_string(out.size()));
  }
  out += text;
  return {};
}

enum class Align { left, right, center };

template <Align kAlign>
Result<Value> justified(Context& context, const Value& self, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given,
                   Parameters::bind("justify", arguments, {"width", "fillchar"}));
  ASSIGN_OR_RETURN(const int64_t width, given.integer(0, 0));
  ASSIGN_OR_RETURN(const std::string_view fill, given.text(1, " "));
  if (length(fill) != 1) return refuse("the fill must be one character");
  const auto size = static_cast<int64_t>(length(*self.text()));
  if (width <= size) return self;
  const auto missing = static_cast<size_t>(width - size);
  RETURN_IF_ERROR(context.budget.check_string(missing));
  // Python puts the odd one of center() to the left when the width is odd.
  const size_t left = kAlign == Align::left    ? 0
                      : kAlign == Align::right ? missing
                                               : missing / 2 + (missing & size_t(width) & 1);
  std::string out;
  for (size_t i = 0; i < left; ++i) out += fill;
  out += *self.text();
  for (size_t i = left; i < missing; ++i) out += fill;
  return make_string(context.budget, std::move(out));
}

constexpr Method kMethods[] = {
    {"strip", stripped<kBoth>},
    {"lstrip", stripped<kBegin>},
    {"rstrip", stripped<kEnd>},
    {"split", split<false>},
    {"rsplit", split<true>},
    {"splitlines", splitlines},
    {"partition", partition<false>},
    {"rpartition", partition<true>},
    {"startswith", has_affix<false>},
    {"endswith", has_affix<true>},
    {"removeprefix", remove_affix<false>},
    {"removesuffix", remove_affix<true>},
    {"replace", replace_text},
    {"join", join},
    {"upper", mapped_method<upper>},
    {"lower", mapped_method<lower>},
    {"casefold", mapped_method<lower>},
    {"capitalize", mapped_method<capitalize>},
    {"title", mapped_method<title_words>},
    {"find", find<false, false>},
    {"rfind", find<true, false>},
    {"index", find<false, true>},
    {"rindex", find<true, true>},
    {"count", count},
    {"isdigit", all_characters<is_digit>},
    {"isdecimal", all_characters<is_digit>},
    {"isnumeric", all_characters<is_digit>},
    {"isalpha", all_characters<is_alpha>},
    {"isalnum", all_characters<is_alphanumeric>},
    {"isspace", all_characters<is_space>},
    {"isupper", has_case<is_upper, is_lower>},
    {"islower", has_case<is_lower, is_upper>},
    {"ljust", justified<Align::left>},
    {"rjust", justified<Align::right>},
    {"center", justified<Align::center>},
};

}  // namespace

std::span<const Method> string_methods() { return kMethods; }

Result<Value> replace_text(Context& context, const Value& self, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given,
                   Parameters::bind("replace", arguments, {"old", "new", "count"}));
  RETURN_IF_ERROR(given.required(0));
  RETURN_IF_ERROR(given.required(1));
  ASSIGN_OR_RETURN(const std::string_view from, given.text(0, ""));
  ASSIGN_OR_RETURN(const std::string_view to, given.text(1, ""));
  int64_t max = -1;
  if (!given[2].is_none()) {
    ASSIGN_OR_RETURN(max, given.integer(2, -1));
  }
  const std::string_view text = *self.text();
  RETURN_IF_ERROR(context.budget.bytes_work(text.size()));
  std::string out;
  if (from.empty()) {
    RETURN_IF_ERROR(insert_between(context.budget, text, to, max, out));
  } else {
    RETURN_IF_ERROR(replace_all(context.budget, text, {from, to, max}, out));
  }
  return make_string(context.budget, std::move(out));
}

}  // namespace evener::chat::jinja
