#include "chat/jinja/interpreter.h"

#include <fmt/format.h>

#include "base/text.h"
#include "chat/jinja/compare.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"
#include "chat/jinja/syntax_error.h"

namespace evener::chat::jinja {

Interpreter::~Interpreter() {
  for (const ScopePtr& scope : captured_) scope->clear();
}

Status Interpreter::Depth::check() const {
  const size_t limit = interpreter_.context_.budget.limits().evaluation_depth;
  if (interpreter_.depth_ <= limit) return {};
  return too_much(fmt::format("the template calls itself or nests deeper than {}", limit));
}

Result<std::string> Interpreter::render(const ast::Tree& tree) {
  TextSink out(context_.budget);
  RETURN_IF_ERROR(run(tree.root, root_, out));
  return out.take();
}

Result<Interpreter::Flow> Interpreter::run(const ast::Block& block, const ScopePtr& scope,
                                           TextSink& out) {
  for (const ast::Statement* statement : block) {
    ASSIGN_OR_RETURN(const Flow flow, run(*statement, scope, out));
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::run(const ast::Statement& statement, const ScopePtr& scope,
                                           TextSink& out) {
  const Depth depth(*this);
  auto result = [&]() -> Result<Flow> {
    RETURN_IF_ERROR(depth.check());
    RETURN_IF_ERROR(context_.budget.work());
    return std::visit([&](const auto& node) { return step(node, scope, out); }, statement.node);
  }();
  if (!result && result.error().where.empty()) result.error().where = template_line(statement.line);
  return result;
}

Result<Interpreter::Flow> Interpreter::step(const ast::Text& text, const ScopePtr&, TextSink& out) {
  RETURN_IF_ERROR(out.append(text.text));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::step(const ast::Output& output, const ScopePtr& scope,
                                            TextSink& out) {
  ASSIGN_OR_RETURN(const Value value, evaluate(output.expression, scope));
  RETURN_IF_ERROR(print(value, out));
  return Flow::next;
}

Status Interpreter::print(const Value& value, TextSink& out) {
  if (const std::string* text = value.text()) return out.append(*text);
  ASSIGN_OR_RETURN(const std::string text, to_text(context_.budget, value));
  return out.append(text);
}

Result<Interpreter::Flow> Interpreter::step(const ast::If& branches, const ScopePtr& scope,
                                            TextSink& out) {
  for (const auto& [condition, block] : branches.branches) {
    ASSIGN_OR_RETURN(const Value value, evaluate(condition, scope));
    if (truth(value)) return run(block, scope, out);
  }
  return run(branches.otherwise, scope, out);
}

// The elements to visit; `for x in xs if condition` leaves the others out before it counts.
Result<std::vector<Value>> Interpreter::loop_items(const ast::For& loop, const ScopePtr& scope) {
  ASSIGN_OR_RETURN(const Value iterable, evaluate(loop.iterable, scope));
  ASSIGN_OR_RETURN(std::vector<Value> items, elements(context_.budget, iterable));
  if (loop.condition == nullptr) return items;
  std::vector<Value> kept;
  for (Value& item : items) {
    const auto inner = std::make_shared<Scope>(scope);
    RETURN_IF_ERROR(assign(loop.target, item, *inner));
    ASSIGN_OR_RETURN(const Value condition, evaluate(loop.condition, inner));
    if (truth(condition)) kept.push_back(std::move(item));
  }
  return kept;
}

Result<Interpreter::Flow> Interpreter::step(const ast::For& loop, const ScopePtr& scope,
                                            TextSink& out) {
  ASSIGN_OR_RETURN(std::vector<Value> items, loop_items(loop, scope));
  if (items.empty()) return run(loop.otherwise, std::make_shared<Scope>(scope), out);
  ASSIGN_OR_RETURN(const Value list, make_list(context_.budget, std::move(items)));
  const auto& shared = std::get<Value::ListPtr>(list.held());
  for (size_t i = 0; i < shared->items.size(); ++i) {
    // Each round has variables of its own: what one sets is gone in the next.
    const auto inner = std::make_shared<Scope>(scope);
    inner->set("loop", Value(Value::Held(std::make_shared<const Loop>(Loop{shared, i}))));
    RETURN_IF_ERROR(assign(loop.target, shared->items[i], *inner));
    ASSIGN_OR_RETURN(const Flow flow, run(loop.body, inner, out));
    if (flow == Flow::leave_loop) break;
  }
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::step(const ast::Set& set, const ScopePtr& scope, TextSink&) {
  ASSIGN_OR_RETURN(Value value, evaluate(set.value, scope));
  RETURN_IF_ERROR(assign(set.target, std::move(value), *scope));
  return Flow::next;
}

// What a block prints, as a value.
Result<Value> Interpreter::capture(const ast::Block& block, ast::Expr filtered,
                                   const ScopePtr& scope) {
  TextSink sink(context_.budget);
  RETURN_IF_ERROR(run(block, std::make_shared<Scope>(scope), sink));
  ASSIGN_OR_RETURN(Value text, make_string(context_.budget, sink.take()));
  if (filtered == nullptr) return text;
  const auto inner = std::make_shared<Scope>(scope);
  inner->set(ast::kCapturedText, std::move(text));
  return evaluate(filtered, inner);
}

Result<Interpreter::Flow> Interpreter::step(const ast::SetBlock& set, const ScopePtr& scope,
                                            TextSink&) {
  ASSIGN_OR_RETURN(Value value, capture(set.body, set.filtered, scope));
  RETURN_IF_ERROR(assign(set.target, std::move(value), *scope));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::step(const ast::FilterBlock& block, const ScopePtr& scope,
                                            TextSink& out) {
  ASSIGN_OR_RETURN(const Value value, capture(block.body, block.filtered, scope));
  RETURN_IF_ERROR(print(value, out));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::step(const ast::Scoped& block, const ScopePtr& scope,
                                            TextSink& out) {
  const auto inner = std::make_shared<Scope>(scope);
  for (const ast::Set& assignment : block.assignments) {
    ASSIGN_OR_RETURN(Value value, evaluate(assignment.value, scope));
    RETURN_IF_ERROR(assign(assignment.target, std::move(value), *inner));
  }
  return run(block.body, inner, out);
}

Result<Interpreter::Flow> Interpreter::step(const ast::MacroDefinition& definition,
                                            const ScopePtr& scope, TextSink&) {
  ASSIGN_OR_RETURN(Value macro, make_macro(definition.macro, scope));
  scope->set(definition.macro.name, std::move(macro));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::step(const ast::CallBlock& block, const ScopePtr& scope,
                                            TextSink& out) {
  const auto& call_node = std::get<ast::Call>(block.call->node);
  ASSIGN_OR_RETURN(const Value callee, evaluate(call_node.callee, scope));
  ASSIGN_OR_RETURN(Arguments arguments, arguments_of(call_node.arguments, scope));
  ASSIGN_OR_RETURN(Value caller, make_macro(block.caller, scope));
  arguments.named.emplace_back("caller", std::move(caller));
  ASSIGN_OR_RETURN(const Value value, call(callee, arguments));
  RETURN_IF_ERROR(print(value, out));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::step(const ast::Do& statement, const ScopePtr& scope,
                                            TextSink&) {
  RETURN_IF_ERROR(evaluate(statement.expression, scope));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::step(const ast::Break&, const ScopePtr&, TextSink&) {
  return Flow::leave_loop;
}

Result<Interpreter::Flow> Interpreter::step(const ast::Continue&, const ScopePtr&, TextSink&) {
  return Flow::next_iteration;
}

Status Interpreter::assign(const ast::Target& target, Value value, Scope& scope) {
  if (!target.items.empty()) {
    if (value.is_undefined()) return undefined_error(value);
    ASSIGN_OR_RETURN(std::vector<Value> parts, elements(context_.budget, value));
    if (parts.size() != target.items.size()) {
      return refuse(fmt::format("{} values cannot be assigned to {} names", parts.size(),
                                target.items.size()));
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      RETURN_IF_ERROR(assign(target.items[i], std::move(parts[i]), scope));
    }
    return {};
  }
  if (target.attribute.empty()) {
    scope.set(target.name, std::move(value));
    return {};
  }
  const Value* object = scope.find(target.name);
  Namespace* names = object == nullptr ? nullptr : object->name_space();
  if (names == nullptr) {
    return refuse(fmt::format("'{}' is no namespace, so '{}.{}' cannot be set", target.name,
                              target.name, target.attribute));
  }
  names->set(target.attribute, std::move(value));
  return {};
}

}  // namespace evener::chat::jinja
