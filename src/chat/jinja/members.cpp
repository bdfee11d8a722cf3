#include "chat/jinja/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "base/utf8.h"
#include "chat/jinja/compare.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/methods.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/text.h"

namespace evener::chat::jinja {
namespace {

// Python has them, but values here never change, as in Hugging Face's sandbox.
constexpr std::string_view kChangingMethods[] = {"append",  "extend",     "insert", "remove",
                                                 "pop",     "clear",      "sort",   "update",
                                                 "popitem", "setdefault", "add",    "discard"};

std::span<const Method> methods_of(const Value& object) {
  if (object.text() != nullptr) return string_methods();
  if (object.list() != nullptr) return list_methods();
  if (object.dict() != nullptr) return dict_methods();
  if (object.loop() != nullptr) return loop_methods();
  return {};
}

const Method* find_method(const Value& object, std::string_view name) {
  const auto methods = methods_of(object);
  const auto found = std::find_if(methods.begin(), methods.end(),
                                  [&](const Method& method) { return method.name == name; });
  return found == methods.end() ? nullptr : &*found;
}

bool would_change(const Value& object, std::string_view name) {
  const bool container = object.list() != nullptr || object.dict() != nullptr;
  return container && std::ranges::find(kChangingMethods, name) != std::end(kChangingMethods);
}

Value loop_neighbour(const Loop& loop, bool exists, size_t index) {
  return exists ? loop.items->items[index] : Value();
}

std::optional<Value> loop_attribute(const Loop& loop, std::string_view name) {
  const auto index = static_cast<int64_t>(loop.index);
  const auto size = static_cast<int64_t>(loop.items->items.size());
  if (name == "index") return Value::integer(index + 1);
  if (name == "index0") return Value::integer(index);
  if (name == "revindex") return Value::integer(size - index);
  if (name == "revindex0") return Value::integer(size - index - 1);
  if (name == "first") return Value::boolean(index == 0);
  if (name == "last") return Value::boolean(index + 1 == size);
  if (name == "length") return Value::integer(size);
  if (name == "depth") return Value::integer(1);  // counts recursive loops, which we lack
  if (name == "depth0") return Value::integer(0);
  if (name == "previtem") return loop_neighbour(loop, index > 0, loop.index - 1);
  if (name == "nextitem") return loop_neighbour(loop, index + 1 < size, loop.index + 1);
  return std::nullopt;
}

std::optional<Value> member(const Value& object, std::string_view name) {
  if (const Loop* loop = object.loop()) return loop_attribute(*loop, name);
  const Value* found = nullptr;
  if (const Namespace* names = object.name_space()) found = names->find(name);
  if (const Dict* dict = object.dict()) found = dict->find(name);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

// A Python index as an offset, or nothing if it is outside.
std::optional<size_t> offset_of(int64_t index, size_t size) {
  const auto signed_size = static_cast<int64_t>(size);
  if (index < 0) index += signed_size;
  if (index < 0 || index >= signed_size) return std::nullopt;
  return static_cast<size_t>(index);
}

Result<Value> character_at(Context& context, const std::string& text, int64_t index) {
  RETURN_IF_ERROR(context.budget.bytes_work(text.size()));
  const auto offset = offset_of(index, length(text));
  if (!offset) return Value();
  const size_t begin = byte_offset(text, *offset);
  return make_string(context.budget, text.substr(begin, utf8::decode(text, begin).num_bytes));
}

Result<Value> method_value(Context& context, const Value& object, std::string_view name) {
  return Function::make(context.budget, Function::Method{object, std::string(name)});
}

Result<Value> text_item(Context& context, const Value& object, const std::string& name) {
  if (auto found = member(object, name)) return *std::move(found);
  if (find_method(object, name) != nullptr) return method_value(context, object, name);
  return Value();
}

// The offsets that start:stop:step selects, as Python's slice.indices().
struct Range {
  int64_t begin;
  int64_t end;
  int64_t step;
};

Result<int64_t> bound(const Value& value, int64_t otherwise) {
  if (value.is_undefined() || value.is_none()) return otherwise;
  if (const auto number = as_integer(value)) return *number;
  return refuse(fmt::format("the bounds of a slice must be integers, not {}", value.type()));
}

int64_t clamp_bound(int64_t value, int64_t size, int64_t low, int64_t high) {
  if (value < 0) value = value < -size ? low : value + size;
  return std::clamp(value, low, high);
}

Result<Range> resolve(const SliceBounds& bounds, size_t num_elements) {
  const auto size = static_cast<int64_t>(num_elements);
  ASSIGN_OR_RETURN(const int64_t step, bound(bounds.step, 1));
  if (step == 0) return refuse("the step of a slice cannot be zero");
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? size : size - 1;
  const bool has_start = !bounds.start.is_undefined() && !bounds.start.is_none();
  const bool has_stop = !bounds.stop.is_undefined() && !bounds.stop.is_none();
  ASSIGN_OR_RETURN(const int64_t start, bound(bounds.start, 0));
  ASSIGN_OR_RETURN(const int64_t stop, bound(bounds.stop, 0));
  return Range{.begin = has_start  ? clamp_bound(start, size, low, high)
                        : step > 0 ? low
                                   : high,
               .end = has_stop   ? clamp_bound(stop, size, low, high)
                      : step > 0 ? high
                                 : low,
               .step = step};
}

template <class Visit>
void walk(const Range& range, Visit visit) {
  // A step beyond the other end would overflow the counter.
  for (int64_t i = range.begin; range.step > 0 ? i < range.end : i > range.end;) {
    visit(static_cast<size_t>(i));
    if (__builtin_add_overflow(i, range.step, &i)) return;
  }
}

Result<Value> slice_text(Context& context, const std::string& text, const SliceBounds& bounds) {
  RETURN_IF_ERROR(context.budget.bytes_work(text.size()));
  const size_t size = length(text);
  ASSIGN_OR_RETURN(const Range range, resolve(bounds, size));
  if (range.step == 1) {
    if (range.begin >= range.end) return make_string(context.budget, "");
    const size_t begin = byte_offset(text, static_cast<size_t>(range.begin));
    const auto num_characters = static_cast<size_t>(range.end - range.begin);
    const std::string_view rest = std::string_view(text).substr(begin);
    return make_string(context.budget,
                       std::string(rest.substr(0, byte_offset(rest, num_characters))));
  }
  RETURN_IF_ERROR(context.budget.check_elements(size));
  std::vector<std::string_view> characters;
  for_each_character(text, [&](std::string_view character) { characters.push_back(character); });
  std::string out;
  walk(range, [&](size_t i) { out += characters[i]; });
  return make_string(context.budget, std::move(out));
}

}  // namespace

Result<Value> get_attribute(Context& context, const Value& object, const std::string& name) {
  if (object.is_undefined()) return undefined_error(object);
  if (object.name_space() == nullptr && find_method(object, name) != nullptr) {
    return method_value(context, object, name);
  }
  if (auto found = member(object, name)) return *std::move(found);
  if (would_change(object, name)) {
    return lacking(
        fmt::format("{}.{}() would change a value; join lists with +", object.type(), name));
  }
  return Value::undefined(name);
}

Result<Value> get_item(Context& context, const Value& object, const Value& index) {
  if (object.is_undefined()) return undefined_error(object);
  if (const auto number = as_integer(index)) {
    if (const List* list = object.list()) {
      const auto offset = offset_of(*number, list->items.size());
      return offset ? list->items[*offset] : Value();
    }
    if (const std::string* text = object.text()) return character_at(context, *text, *number);
  }
  if (const std::string* name = index.text()) return text_item(context, object, *name);
  if (const Dict* dict = object.dict()) {
    const Value* found = dict->find(index);
    return found == nullptr ? Value() : *found;
  }
  return Value();
}

Result<Value> get_slice(Context& context, const Value& object, const SliceBounds& bounds) {
  if (const List* list = object.list()) {
    ASSIGN_OR_RETURN(const Range range, resolve(bounds, list->items.size()));
    std::vector<Value> items;
    walk(range, [&](size_t i) { items.push_back(list->items[i]); });
    return list->is_tuple ? make_tuple(context.budget, std::move(items))
                          : make_list(context.budget, std::move(items));
  }
  if (const std::string* text = object.text()) return slice_text(context, *text, bounds);
  if (object.is_undefined()) return undefined_error(object);
  return refuse(fmt::format("a value of type {} cannot be sliced", object.type()));
}

bool has_method(const Value& object, std::string_view name) {
  return find_method(object, name) != nullptr;
}

Result<Value> call_method(Context& context, const Value& object, std::string_view name,
                          const Arguments& arguments) {
  const Method* method = find_method(object, name);
  if (method == nullptr) {
    return lacking(fmt::format("there is no method {}.{}()", object.type(), printable(name, 60)));
  }
  RETURN_IF_ERROR(context.budget.work());
  return method->run(context, object, arguments);
}

}  // namespace evener::chat::jinja
