#include "chat/jinja/filters.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/members.h"

namespace evener::chat::jinja {

const Filter* find_filter(std::string_view name) {
  for (const auto table : {text_filters(), number_filters(), list_filters(), selecting_filters()}) {
    for (const Filter& filter : table) {
      if (filter.name == name) return &filter;
    }
  }
  return nullptr;
}

Result<Value> apply_filter(Context& context, std::string_view name, const Value& input,
                           const Arguments& arguments) {
  RETURN_IF_ERROR(context.budget.work());
  const Filter* filter = find_filter(name);
  if (filter == nullptr)
    return lacking(fmt::format("there is no filter '{}'", printable(name, 60)));
  return filter->run(context, input, arguments);
}

Result<Value> attribute_of(Context& context, const Value& item, const Value& path,
                           const Value& otherwise) {
  if (path.text() == nullptr) {
    ASSIGN_OR_RETURN(Value found, get_item(context, item, path));
    return found.is_undefined() ? otherwise : found;
  }
  std::string_view rest = *path.text();
  Value value = item;
  for (;;) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    int64_t index = 0;
    const char* end = part.data() + part.size();
    const auto parsed = std::from_chars(part.data(), end, index);
    const bool is_index = !part.empty() && parsed.ec == std::errc() && parsed.ptr == end;
    ASSIGN_OR_RETURN(const Value key, is_index ? Result<Value>(Value::integer(index))
                                               : make_string(context.budget, std::string(part)));
    ASSIGN_OR_RETURN(value, get_item(context, value, key));
    if (value.is_undefined()) value = otherwise;
    if (part.size() == rest.size()) return value;
    rest.remove_prefix(part.size() + 1);
  }
}

}  // namespace evener::chat::jinja
