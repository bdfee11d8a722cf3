#include "chat/jinja/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chat/jinja/failure.h"
#include "chat/jinja/function.h"

namespace evener::chat::jinja {
namespace {

template <class Ptr>
auto* pointee(const Value::Held& held) {
  const Ptr* pointer = std::get_if<Ptr>(&held);
  return pointer == nullptr ? nullptr : pointer->get();
}

std::string identity(std::string_view text) { return fmt::format("s{}", text); }

Status check_depth(const Budget& budget, size_t depth) {
  if (depth <= budget.limits().value_depth) return {};
  return too_much(
      fmt::format("lists and mappings nest deeper than {}", budget.limits().value_depth));
}

Result<Value> make_sequence(Budget& budget, std::vector<Value> items, bool is_tuple) {
  RETURN_IF_ERROR(budget.check_elements(items.size()));
  RETURN_IF_ERROR(budget.work(1 + items.size()));
  size_t depth = 0;
  for (const Value& item : items) depth = std::max(depth, item.depth());
  RETURN_IF_ERROR(check_depth(budget, depth + 1));
  const size_t bytes = sizeof(List) + items.size() * sizeof(Value);
  RETURN_IF_ERROR(budget.take(bytes));
  return Value(Value::Held(
      Value::ListPtr(new List{std::move(items), is_tuple, depth + 1, Share(budget, bytes)})));
}

}  // namespace

std::string identity(const Value& key) {
  if (const std::string* text = key.text()) return identity(*text);
  if (const bool* flag = key.as<bool>()) return *flag ? "i1" : "i0";
  if (const int64_t* number = key.as<int64_t>()) return fmt::format("i{}", *number);
  if (const double* number = key.as<double>()) {
    const bool whole = std::floor(*number) == *number && std::abs(*number) < 9e15;
    return whole ? fmt::format("i{}", static_cast<int64_t>(*number)) : fmt::format("f{}", *number);
  }
  return key.is_none() ? "n" : "";
}

void Dict::set(Value key, Value value) {
  const auto [found, inserted] = index_.try_emplace(identity(key), entries_.size());
  if (inserted) {
    entries_.emplace_back(std::move(key), std::move(value));
  } else {
    entries_[found->second].second = std::move(value);
  }
}

const Value* Dict::find(const Value& key) const {
  const auto found = index_.find(identity(key));
  return found == index_.end() ? nullptr : &entries_[found->second].second;
}

const Value* Dict::find(std::string_view key) const {
  const auto found = index_.find(identity(key));
  return found == index_.end() ? nullptr : &entries_[found->second].second;
}

const Value* Namespace::find(std::string_view name) const {
  for (const auto& [key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

void Namespace::set(std::string_view name, Value value) {
  for (auto& [key, held] : members) {
    if (key == name) {
      held = std::move(value);
      return;
    }
  }
  members.emplace_back(name, std::move(value));
}

Value Value::constant(std::string text) {
  return Value(Held(StringPtr(new String{std::move(text), Share()})));
}

const std::string* Value::text() const {
  const String* string = pointee<StringPtr>(held_);
  return string == nullptr ? nullptr : &string->text;
}
const List* Value::list() const { return pointee<ListPtr>(held_); }
const Dict* Value::dict() const { return pointee<DictPtr>(held_); }
const Function* Value::function() const { return pointee<FunctionPtr>(held_); }
const Loop* Value::loop() const { return pointee<LoopPtr>(held_); }
Namespace* Value::name_space() const {
  Namespace* const* pointer = std::get_if<Namespace*>(&held_);
  return pointer == nullptr ? nullptr : *pointer;
}

size_t Value::depth() const {
  if (const List* list = this->list()) return list->depth;
  if (const Dict* dict = this->dict()) return dict->depth;
  return 0;
}

const char* Value::type() const {
  static constexpr const char* kNames[] = {"Undefined", "NoneType", "bool",       "int",
                                           "float",     "str",      "list",       "dict",
                                           "Namespace", "function", "LoopContext"};
  static_assert(std::size(kNames) == std::variant_size_v<Held>);
  const List* list = this->list();
  return list != nullptr && list->is_tuple ? "tuple" : kNames[held_.index()];
}

Result<Value> make_string(Budget& budget, std::string text) {
  RETURN_IF_ERROR(budget.check_string(text.size()));
  RETURN_IF_ERROR(budget.bytes_work(text.size()));
  const size_t bytes = sizeof(String) + text.size();
  RETURN_IF_ERROR(budget.take(bytes));
  return Value(Value::Held(Value::StringPtr(new String{std::move(text), Share(budget, bytes)})));
}

Result<Value> make_list(Budget& budget, std::vector<Value> items) {
  return make_sequence(budget, std::move(items), false);
}

Result<Value> make_tuple(Budget& budget, std::vector<Value> items) {
  return make_sequence(budget, std::move(items), true);
}

Result<Value> make_dict(Budget& budget, std::vector<std::pair<Value, Value>> entries) {
  RETURN_IF_ERROR(budget.check_elements(entries.size()));
  size_t depth = 0;
  size_t bytes = sizeof(Dict);
  for (const auto& [key, value] : entries) {
    const std::string* text = key.text();
    if (text == nullptr && !key.is_number() && !key.is_none() && key.as<bool>() == nullptr) {
      return refuse(fmt::format("a value of type {} cannot be the key of a mapping", key.type()));
    }
    depth = std::max(depth, value.depth());
    // Twice the value for the vector, then a node of the index with a copy of the key.
    bytes += 2 * sizeof(Value) + 80 + (text == nullptr ? 0 : text->size());
  }
  RETURN_IF_ERROR(check_depth(budget, depth + 1));
  RETURN_IF_ERROR(budget.bytes_work(bytes));
  RETURN_IF_ERROR(budget.take(bytes));
  const auto dict = std::make_shared<Dict>(depth + 1, budget, bytes);
  for (auto& [key, value] : entries) dict->set(std::move(key), std::move(value));
  return Value(Value::Held(Value::DictPtr(dict)));
}

}  // namespace evener::chat::jinja
