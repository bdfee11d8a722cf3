#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "chat/jinja/compare.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/members.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/parameters.h"
#include "chat/jinja/print.h"
#include "chat/jinja/sorting.h"
#include "chat/jinja/text.h"
#include "chat/jinja/text_sink.h"

namespace evener::chat::jinja {
namespace {

Result<Value> length_of(Context& context, const Value& input, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("length", arguments, {}));
  if (const std::string* text = input.text()) {
    RETURN_IF_ERROR(context.budget.bytes_work(text->size()));
    return Value::integer(static_cast<int64_t>(length(*text)));
  }
  if (const List* list = input.list()) {
    return Value::integer(static_cast<int64_t>(list->items.size()));
  }
  if (const Dict* dict = input.dict()) return Value::integer(static_cast<int64_t>(dict->size()));
  if (input.is_undefined()) return Value::integer(0);
  return refuse(fmt::format("a value of type {} has no length", input.type()));
}

Result<Value> first(Context& context, const Value& input, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("first", arguments, {}));
  ASSIGN_OR_RETURN(const std::vector<Value> items, elements(context.budget, input));
  return items.empty() ? Value() : items.front();
}

Result<Value> last(Context& context, const Value& input, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("last", arguments, {}));
  ASSIGN_OR_RETURN(const std::vector<Value> items, elements(context.budget, input));
  return items.empty() ? Value() : items.back();
}

Result<Value> list(Context& context, const Value& input, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("list", arguments, {}));
  ASSIGN_OR_RETURN(std::vector<Value> items, elements(context.budget, input));
  return make_list(context.budget, std::move(items));
}

Result<Value> reverse(Context& context, const Value& input, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("reverse", arguments, {}));
  ASSIGN_OR_RETURN(std::vector<Value> items, elements(context.budget, input));
  std::reverse(items.begin(), items.end());
  if (input.text() == nullptr) return make_list(context.budget, std::move(items));
  std::string text;
  for (const Value& item : items) text += *item.text();
  return make_string(context.budget, std::move(text));
}

Result<Value> join(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind("join", arguments, {"d", "attribute"}));
  ASSIGN_OR_RETURN(const std::vector<Value> items, elements(context.budget, input));
  ASSIGN_OR_RETURN(const std::string separator, to_text(context.budget, given[0]));
  TextSink sink(context.budget);
  for (size_t i = 0; i < items.size(); ++i) {
    Value item = items[i];
    if (given.given(1)) {
      ASSIGN_OR_RETURN(item, attribute_of(context, item, given[1]));
    }
    ASSIGN_OR_RETURN(const std::string text, to_text(context.budget, item));
    if (i != 0) RETURN_IF_ERROR(sink.append(separator));
    RETURN_IF_ERROR(sink.append(text));
  }
  return make_string(context.budget, sink.take());
}

Result<Value> items(Context& context, const Value& input, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("items", arguments, {}));
  if (input.is_undefined()) return make_list(context.budget, {});
  if (input.dict() != nullptr) return call_method(context, input, "items", arguments);
  return refuse(fmt::format("items needs a mapping, not {}", input.type()));
}

// What an element is sorted or compared by; texts without regard to case unless asked for.
Result<Value> sort_key(Context& context, Value item, bool case_sensitive) {
  if (case_sensitive || item.text() == nullptr) return item;
  return make_string(context.budget, lower(*item.text()));
}

Result<Value> key_of(Context& context, const Value& item, const Value& attribute,
                     bool case_sensitive) {
  if (attribute.is_undefined() || attribute.is_none()) {
    return sort_key(context, item, case_sensitive);
  }
  ASSIGN_OR_RETURN(Value value, attribute_of(context, item, attribute));
  return sort_key(context, std::move(value), case_sensitive);
}

// sort(attribute="a,b") sorts by a, then by b.
Result<Value> compound_key(Context& context, const Value& item, const Value& attributes,
                           bool case_sensitive) {
  const std::string* names = attributes.text();
  if (names == nullptr || names->find(',') == names->npos) {
    return key_of(context, item, attributes, case_sensitive);
  }
  std::vector<Value> parts;
  for (std::string_view rest = *names; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    ASSIGN_OR_RETURN(const Value attribute, make_string(context.budget, std::string(name)));
    ASSIGN_OR_RETURN(Value key, key_of(context, item, attribute, case_sensitive));
    parts.push_back(std::move(key));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
  }
  return make_list(context.budget, std::move(parts));
}

Result<Value> in_order(Context& context, const std::vector<Value>& values,
                       const std::vector<Value>& keys, bool descending) {
  ASSIGN_OR_RETURN(const std::vector<size_t> order,
                   sorted_order(context.budget, keys,
                                descending ? Direction::descending : Direction::ascending));
  std::vector<Value> sorted;
  for (const size_t index : order) sorted.push_back(values[index]);
  return make_list(context.budget, std::move(sorted));
}

Result<Value> sort(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given,
                   Parameters::bind("sort", arguments, {"reverse", "case_sensitive", "attribute"}));
  ASSIGN_OR_RETURN(const std::vector<Value> values, elements(context.budget, input));
  std::vector<Value> keys;
  for (const Value& value : values) {
    ASSIGN_OR_RETURN(Value key, compound_key(context, value, given[2], given.flag(1, false)));
    keys.push_back(std::move(key));
  }
  return in_order(context, values, keys, given.flag(0, false));
}

Result<Value> dictsort(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given,
                   Parameters::bind("dictsort", arguments, {"case_sensitive", "by", "reverse"}));
  ASSIGN_OR_RETURN(const std::string_view by, given.text(1, "key"));
  if (by != "key" && by != "value") return refuse("dictsort is by 'key' or by 'value'");
  if (input.dict() == nullptr) return refuse("dictsort needs a mapping");
  std::vector<Value> pairs;
  std::vector<Value> keys;
  for (const auto& [key, value] : input.dict()->entries()) {
    ASSIGN_OR_RETURN(Value pair, make_tuple(context.budget, {key, value}));
    pairs.push_back(std::move(pair));
    ASSIGN_OR_RETURN(Value rank,
                     sort_key(context, by == "key" ? key : value, given.flag(0, false)));
    keys.push_back(std::move(rank));
  }
  return in_order(context, pairs, keys, given.flag(2, false));
}

Result<Value> unique(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given,
                   Parameters::bind("unique", arguments, {"case_sensitive", "attribute"}));
  ASSIGN_OR_RETURN(const std::vector<Value> values, elements(context.budget, input));
  std::unordered_set<std::string> seen;
  std::vector<Value> kept;
  for (const Value& value : values) {
    ASSIGN_OR_RETURN(const Value key, key_of(context, value, given[1], given.flag(0, false)));
    std::string known = identity(key);
    if (known.empty()) {
      return refuse(fmt::format("unique does not work on values of type {}", key.type()));
    }
    if (seen.insert(std::move(known)).second) kept.push_back(value);
  }
  return make_list(context.budget, std::move(kept));
}

template <bool kLargest>
Result<Value> extreme(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind(kLargest ? "max" : "min", arguments,
                                                            {"case_sensitive", "attribute"}));
  ASSIGN_OR_RETURN(const std::vector<Value> values, elements(context.budget, input));
  Value best;
  Value best_key;
  for (const Value& value : values) {
    ASSIGN_OR_RETURN(Value key, key_of(context, value, given[1], given.flag(0, false)));
    if (!best_key.is_undefined()) {
      ASSIGN_OR_RETURN(const auto ordering, order(context.budget, key, best_key));
      if (kLargest ? ordering <= 0 : ordering >= 0) continue;
    }
    best = value;
    best_key = std::move(key);
  }
  return best;
}

Result<Value> sum(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given,
                   Parameters::bind("sum", arguments, {"attribute", "start"}));
  ASSIGN_OR_RETURN(const std::vector<Value> values, elements(context.budget, input));
  Value total = given.given(1) ? given[1] : Value::integer(0);
  for (const Value& value : values) {
    ASSIGN_OR_RETURN(const Value term, key_of(context, value, given[0], true));
    ASSIGN_OR_RETURN(total, arithmetic(context, ast::Arithmetic::Operator::add, total, term));
  }
  return total;
}

Result<Value> batch(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given,
                   Parameters::bind("batch", arguments, {"linecount", "fill_with"}));
  ASSIGN_OR_RETURN(const int64_t size, given.integer(0, 0));
  if (size < 1) return refuse("batch() needs a size of at least 1");
  RETURN_IF_ERROR(context.budget.check_elements(static_cast<size_t>(size)));
  ASSIGN_OR_RETURN(const std::vector<Value> values, elements(context.budget, input));
  std::vector<Value> batches;
  for (size_t begin = 0; begin < values.size(); begin += static_cast<size_t>(size)) {
    const size_t end = std::min(begin + static_cast<size_t>(size), values.size());
    std::vector<Value> part(values.begin() + static_cast<ptrdiff_t>(begin),
                            values.begin() + static_cast<ptrdiff_t>(end));
    if (given.given(1)) part.resize(static_cast<size_t>(size), given[1]);
    ASSIGN_OR_RETURN(Value made, make_list(context.budget, std::move(part)));
    batches.push_back(std::move(made));
  }
  return make_list(context.budget, std::move(batches));
}

Result<Value> otherwise(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given,
                   Parameters::bind("default", arguments, {"default_value", "boolean"}));
  const bool replaces = input.is_undefined() || (given.flag(1, false) && !truth(input));
  if (!replaces) return input;
  const bool has_default = !arguments.positional.empty() || given.given(0);
  return has_default ? given[0] : make_string(context.budget, "");
}

Result<Value> attr(Context& context, const Value& input, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind("attr", arguments, {"name"}));
  ASSIGN_OR_RETURN(const std::string_view name, given.text(0, ""));
  // The keys of a mapping are no attributes; only those of a namespace and a loop are.
  if (input.name_space() == nullptr && input.loop() == nullptr && !has_method(input, name)) {
    return Value();
  }
  return get_item(context, input, given[0]);
}

constexpr Filter kListFilters[] = {
    {"length", length_of},  {"count", length_of},   {"first", first},   {"last", last},
    {"list", list},         {"reverse", reverse},   {"join", join},     {"items", items},
    {"sort", sort},         {"dictsort", dictsort}, {"unique", unique}, {"min", extreme<false>},
    {"max", extreme<true>}, {"sum", sum},           {"batch", batch},   {"default", otherwise},
    {"d", otherwise},       {"attr", attr},
};

}  // namespace

std::span<const Filter> list_filters() { return kListFilters; }

}  // namespace evener::chat::jinja
