#include <fmt/format.h>

#include "chat/jinja/compare.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/methods.h"
#include "chat/jinja/parameters.h"

namespace evener::chat::jinja {
namespace {

Result<Value> items(Context& context, const Value& self, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("items", arguments, {}));
  std::vector<Value> pairs;
  for (const auto& [key, value] : self.dict()->entries()) {
    ASSIGN_OR_RETURN(Value pair, make_tuple(context.budget, {key, value}));
    pairs.push_back(std::move(pair));
  }
  return make_list(context.budget, std::move(pairs));
}

Result<Value> keys(Context& context, const Value& self, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("keys", arguments, {}));
  std::vector<Value> result;
  for (const auto& entry : self.dict()->entries()) result.push_back(entry.first);
  return make_list(context.budget, std::move(result));
}

Result<Value> values(Context& context, const Value& self, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("values", arguments, {}));
  std::vector<Value> result;
  for (const auto& entry : self.dict()->entries()) result.push_back(entry.second);
  return make_list(context.budget, std::move(result));
}

Result<Value> get(Context&, const Value& self, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind("get", arguments, {"key", "default"}));
  const Value* found = self.dict()->find(given[0]);
  if (found != nullptr) return *found;
  return arguments.positional.size() + arguments.named.size() > 1 ? given[1] : Value::none();
}

Result<Value> copy(Context&, const Value& self, const Arguments& arguments) {
  RETURN_IF_ERROR(Parameters::bind("copy", arguments, {}));
  return self;
}

Result<Value> index(Context& context, const Value& self, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind("index", arguments, {"value"}));
  const auto& all = self.list()->items;
  for (size_t i = 0; i < all.size(); ++i) {
    ASSIGN_OR_RETURN(const bool same, equal(context.budget, all[i], given[0]));
    if (same) return Value::integer(static_cast<int64_t>(i));
  }
  return refuse("index() did not find the value in the list");
}

Result<Value> count(Context& context, const Value& self, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Parameters given, Parameters::bind("count", arguments, {"value"}));
  int64_t found = 0;
  for (const Value& item : self.list()->items) {
    ASSIGN_OR_RETURN(const bool same, equal(context.budget, item, given[0]));
    found += same ? 1 : 0;
  }
  return Value::integer(found);
}

// loop.cycle(a, b, ...): one after the other, by iteration.
Result<Value> cycle(Context&, const Value& self, const Arguments& arguments) {
  if (arguments.positional.empty()) return refuse("cycle() needs something to choose from");
  return arguments.positional[self.loop()->index % arguments.positional.size()];
}

constexpr Method kDictMethods[] = {
    {"items", items}, {"keys", keys}, {"values", values}, {"get", get}, {"copy", copy},
};
constexpr Method kListMethods[] = {{"index", index}, {"count", count}, {"copy", copy}};
constexpr Method kLoopMethods[] = {{"cycle", cycle}};

}  // namespace

std::span<const Method> dict_methods() { return kDictMethods; }
std::span<const Method> list_methods() { return kListMethods; }
std::span<const Method> loop_methods() { return kLoopMethods; }

}  // namespace evener::chat::jinja
