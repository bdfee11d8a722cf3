#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "chat/jinja/budget.h"

namespace evener::chat::jinja {

class Function;
struct List;
class Dict;
struct Namespace;
struct Loop;

// Memory that a value holds of a rendering's budget; handed back on destruction. A constant of the
// template itself has no budget.
class Share {
 public:
  Share() = default;
  Share(Budget& budget, size_t bytes) : budget_(&budget), bytes_(bytes) {}
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  ~Share() {
    if (budget_ != nullptr) budget_->give_back(bytes_);
  }

 private:
  Budget* budget_ = nullptr;
  size_t bytes_ = 0;
};

struct String {
  std::string text;
  Share share;
};

struct None {};

struct Undefined {
  const std::string* name = nullptr;  // in the template's tree; null where there is none to tell
};

// A value at run time. Cheap to copy: texts and containers are shared and never change.
class Value {
 public:
  using StringPtr = std::shared_ptr<const String>;
  using ListPtr = std::shared_ptr<const List>;
  using DictPtr = std::shared_ptr<const Dict>;
  using FunctionPtr = std::shared_ptr<const Function>;
  using LoopPtr = std::shared_ptr<const Loop>;
  using Held = std::variant<Undefined, None, bool, int64_t, double, StringPtr, ListPtr, DictPtr,
                            Namespace*, FunctionPtr, LoopPtr>;

  Value() = default;  // undefined
  Value(Held held) : held_(std::move(held)) {}

  static Value none() { return Value(Held(None{})); }
  static Value boolean(bool value) { return Value(Held(value)); }
  static Value integer(int64_t value) { return Value(Held(value)); }
  static Value real(double value) { return Value(Held(value)); }
  static Value constant(std::string text);  // without a budget: for the template's own literals
  static Value undefined(const std::string& name_in_tree) {
    return Value(Held(Undefined{&name_in_tree}));
  }

  template <class T>
  const T* as() const {
    return std::get_if<T>(&held_);
  }
  const std::string* text() const;
  const List* list() const;
  const Dict* dict() const;
  const Function* function() const;
  const Loop* loop() const;
  Namespace* name_space() const;

  bool is_undefined() const { return std::holds_alternative<Undefined>(held_); }
  bool is_none() const { return std::holds_alternative<None>(held_); }
  bool is_number() const { return as<int64_t>() != nullptr || as<double>() != nullptr; }

  size_t depth() const;      // 0 for all but lists and mappings
  const char* type() const;  // as Python names it: "str", "int", "NoneType", ...
  const Held& held() const { return held_; }

 private:
  Held held_;
};

struct List {
  std::vector<Value> items;
  bool is_tuple = false;
  size_t depth = 1;  // 1 + that of the deepest element
  Share share;
};

// Insertion-ordered mapping. Keys are what Python could hash here: strings, numbers, booleans,
// none.
class Dict {
 public:
  Dict(size_t nesting, Budget& budget, size_t bytes) : depth(nesting), share_(budget, bytes) {}

  // Replaces the value of an equal key and keeps its place, as Python does.
  void set(Value key, Value value);
  const Value* find(const Value& key) const;  // null if absent
  const Value* find(std::string_view key) const;

  const std::vector<std::pair<Value, Value>>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }

  const size_t depth;

 private:
  Share share_;
  std::vector<std::pair<Value, Value>> entries_;
  std::unordered_map<std::string, size_t> index_;  // by identity(key)
};

// Equal keys of a mapping have equal identities: 1, 1.0 and true are one key, as in Python. Empty
// for what cannot be a key.
std::string identity(const Value& key);

// namespace(...): the only thing that a template can change after making it. Owned by the
// interpreter, as it may hold itself.
struct Namespace {
  std::vector<std::pair<std::string, Value>> members;

  const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value);
};

// What `loop` is inside a for.
struct Loop {
  Value::ListPtr items;
  size_t index = 0;
};

// Makers that check and charge.
Result<Value> make_string(Budget& budget, std::string text);
Result<Value> make_list(Budget& budget, std::vector<Value> items);
Result<Value> make_tuple(Budget& budget, std::vector<Value> items);
Result<Value> make_dict(Budget& budget, std::vector<std::pair<Value, Value>> entries);

}  // namespace evener::chat::jinja
