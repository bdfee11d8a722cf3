#include <fmt/format.h>

#include "base/text.h"
#include "chat/jinja/compare.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/interpreter.h"
#include "chat/jinja/members.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/predicates.h"
#include "chat/jinja/print.h"
#include "chat/jinja/syntax_error.h"

namespace evener::chat::jinja {

Result<Value> Interpreter::evaluate(ast::Expr expression, const ScopePtr& scope) {
  const Depth depth(*this);
  auto result = [&]() -> Result<Value> {
    RETURN_IF_ERROR(depth.check());
    RETURN_IF_ERROR(context_.budget.work());
    return std::visit([&](const auto& node) { return value_of(node, scope); }, expression->node);
  }();
  if (!result && result.error().where.empty()) {
    result.error().where = template_line(expression->line);
  }
  return result;
}

Result<Value> Interpreter::value_of(const ast::Literal& literal, const ScopePtr&) {
  return literal.value;
}

Result<Value> Interpreter::value_of(const ast::Name& name, const ScopePtr& scope) {
  const Value* found = scope->find(name.name);
  if (found == nullptr) return Value::undefined(name.name);
  // An undefined value that was assigned still goes by this name in a message.
  return found->is_undefined() ? Value::undefined(name.name) : *found;
}

Result<Value> Interpreter::value_of(const ast::ListLiteral& list, const ScopePtr& scope) {
  std::vector<Value> items;
  items.reserve(list.items.size());
  for (const ast::Expr item : list.items) {
    ASSIGN_OR_RETURN(Value value, evaluate(item, scope));
    items.push_back(std::move(value));
  }
  return list.is_tuple ? make_tuple(context_.budget, std::move(items))
                       : make_list(context_.budget, std::move(items));
}

Result<Value> Interpreter::value_of(const ast::DictLiteral& dict, const ScopePtr& scope) {
  std::vector<std::pair<Value, Value>> entries;
  for (const auto& [key_expression, value_expression] : dict.entries) {
    ASSIGN_OR_RETURN(Value key, evaluate(key_expression, scope));
    ASSIGN_OR_RETURN(Value value, evaluate(value_expression, scope));
    entries.emplace_back(std::move(key), std::move(value));
  }
  return make_dict(context_.budget, std::move(entries));
}

Result<Value> Interpreter::value_of(const ast::Attribute& attribute, const ScopePtr& scope) {
  ASSIGN_OR_RETURN(const Value object, evaluate(attribute.object, scope));
  return get_attribute(context_, object, attribute.name);
}

Result<Value> Interpreter::value_of(const ast::Subscript& subscript, const ScopePtr& scope) {
  ASSIGN_OR_RETURN(const Value object, evaluate(subscript.object, scope));
  ASSIGN_OR_RETURN(const Value index, evaluate(subscript.index, scope));
  return get_item(context_, object, index);
}

Result<Value> Interpreter::value_of(const ast::Slice& slice, const ScopePtr& scope) {
  ASSIGN_OR_RETURN(const Value object, evaluate(slice.object, scope));
  SliceBounds bounds;
  for (const auto& [expression, bound] :
       {std::pair{slice.start, &bounds.start}, std::pair{slice.stop, &bounds.stop},
        std::pair{slice.step, &bounds.step}}) {
    if (expression == nullptr) continue;
    ASSIGN_OR_RETURN(*bound, evaluate(expression, scope));
  }
  return get_slice(context_, object, bounds);
}

Result<Value> Interpreter::value_of(const ast::Call& node, const ScopePtr& scope) {
  const auto* attribute = std::get_if<ast::Attribute>(&node.callee->node);
  if (attribute == nullptr) {
    ASSIGN_OR_RETURN(const Value callee, evaluate(node.callee, scope));
    ASSIGN_OR_RETURN(const Arguments arguments, arguments_of(node.arguments, scope));
    return call(callee, arguments);
  }
  ASSIGN_OR_RETURN(const Value object, evaluate(attribute->object, scope));
  if (has_method(object, attribute->name)) {
    ASSIGN_OR_RETURN(const Arguments arguments, arguments_of(node.arguments, scope));
    return call_method(context_, object, attribute->name, arguments);
  }
  ASSIGN_OR_RETURN(const Value callee, get_attribute(context_, object, attribute->name));
  if (callee.is_undefined() && object.name_space() == nullptr) {
    return lacking(
        fmt::format("there is no method {}.{}()", object.type(), printable(attribute->name, 60)));
  }
  ASSIGN_OR_RETURN(const Arguments arguments, arguments_of(node.arguments, scope));
  return call(callee, arguments);
}

Result<Value> Interpreter::value_of(const ast::Filter& filter, const ScopePtr& scope) {
  ASSIGN_OR_RETURN(const Value input, evaluate(filter.operand, scope));
  ASSIGN_OR_RETURN(const Arguments arguments, arguments_of(filter.arguments, scope));
  return apply_filter(context_, filter.name, input, arguments);
}

Result<Value> Interpreter::value_of(const ast::Test& test, const ScopePtr& scope) {
  ASSIGN_OR_RETURN(const Value operand, evaluate(test.operand, scope));
  ASSIGN_OR_RETURN(const Arguments arguments, arguments_of(test.arguments, scope));
  ASSIGN_OR_RETURN(const bool passes, apply_test(context_, test.name, operand, arguments));
  return Value::boolean(passes);
}

Result<Value> Interpreter::value_of(const ast::Unary& unary, const ScopePtr& scope) {
  ASSIGN_OR_RETURN(const Value operand, evaluate(unary.operand, scope));
  switch (unary.op) {
    case ast::Unary::Operator::negate:
      return negate(operand);
    case ast::Unary::Operator::plus:
      return plus(operand);
    case ast::Unary::Operator::logical_not:
      break;
  }
  return Value::boolean(!truth(operand));
}

Result<Value> Interpreter::value_of(const ast::Arithmetic& node, const ScopePtr& scope) {
  ASSIGN_OR_RETURN(const Value left, evaluate(node.left, scope));
  ASSIGN_OR_RETURN(const Value right, evaluate(node.right, scope));
  return arithmetic(context_, node.op, left, right);
}

Result<Value> Interpreter::value_of(const ast::Concatenation& chain, const ScopePtr& scope) {
  TextSink sink(context_.budget);
  for (const ast::Expr part : chain.parts) {
    ASSIGN_OR_RETURN(const Value value, evaluate(part, scope));
    RETURN_IF_ERROR(print(value, sink));
  }
  return make_string(context_.budget, sink.take());
}

Result<Value> Interpreter::value_of(const ast::Logical& logical, const ScopePtr& scope) {
  ASSIGN_OR_RETURN(Value left, evaluate(logical.left, scope));
  const bool decides = truth(left) == (logical.op == ast::Logical::Operator::logical_or);
  return decides ? Result<Value>(std::move(left)) : evaluate(logical.right, scope);
}

Result<Value> Interpreter::value_of(const ast::Comparison& comparison, const ScopePtr& scope) {
  ASSIGN_OR_RETURN(Value left, evaluate(comparison.first, scope));
  for (const auto& [op, operand] : comparison.steps) {
    ASSIGN_OR_RETURN(Value right, evaluate(operand, scope));
    ASSIGN_OR_RETURN(const bool holds, compare(context_.budget, op, left, right));
    if (!holds) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Result<Value> Interpreter::value_of(const ast::Conditional& conditional, const ScopePtr& scope) {
  ASSIGN_OR_RETURN(const Value condition, evaluate(conditional.condition, scope));
  if (truth(condition)) return evaluate(conditional.then, scope);
  if (conditional.otherwise == nullptr) return Value();
  return evaluate(conditional.otherwise, scope);
}

}  // namespace evener::chat::jinja
