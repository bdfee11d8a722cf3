#pragma once

#include <string>

#include "chat/jinja/ast.h"
#include "chat/jinja/context.h"
#include "chat/jinja/function.h"
#include "chat/jinja/scope.h"
#include "chat/jinja/text_sink.h"

namespace evener::chat::jinja {

// Runs a template once. Errors carry the template's line in `where`.
class Interpreter {
 public:
  // `root` holds the global functions and the conversation's variables.
  Interpreter(Context& context, ScopePtr root) : context_(context), root_(std::move(root)) {}
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  ~Interpreter();

  Result<std::string> render(const ast::Tree& tree);

 private:
  // What a statement does to the loop around it.
  enum class Flow { next, leave_loop, next_iteration };

  class Depth;

  // Statements: interpreter.cpp. They print to `out`.
  Result<Flow> run(const ast::Block& block, const ScopePtr& scope, TextSink& out);
  Result<Flow> run(const ast::Statement& statement, const ScopePtr& scope, TextSink& out);
  Result<Flow> step(const ast::Text& text, const ScopePtr& scope, TextSink& out);
  Result<Flow> step(const ast::Output& output, const ScopePtr& scope, TextSink& out);
  Result<Flow> step(const ast::If& branches, const ScopePtr& scope, TextSink& out);
  Result<Flow> step(const ast::For& loop, const ScopePtr& scope, TextSink& out);
  Result<Flow> step(const ast::Set& set, const ScopePtr& scope, TextSink& out);
  Result<Flow> step(const ast::SetBlock& set, const ScopePtr& scope, TextSink& out);
  Result<Flow> step(const ast::MacroDefinition& definition, const ScopePtr& scope, TextSink& out);
  Result<Flow> step(const ast::CallBlock& block, const ScopePtr& scope, TextSink& out);
  Result<Flow> step(const ast::FilterBlock& block, const ScopePtr& scope, TextSink& out);
  Result<Flow> step(const ast::Scoped& block, const ScopePtr& scope, TextSink& out);
  Result<Flow> step(const ast::Do& statement, const ScopePtr& scope, TextSink& out);
  Result<Flow> step(const ast::Break&, const ScopePtr& scope, TextSink& out);
  Result<Flow> step(const ast::Continue&, const ScopePtr& scope, TextSink& out);

  Status print(const Value& value, TextSink& out);
  Status assign(const ast::Target& target, Value value, Scope& scope);
  Result<std::vector<Value>> loop_items(const ast::For& loop, const ScopePtr& scope);
  Result<Value> capture(const ast::Block& block, ast::Expr filtered, const ScopePtr& scope);

  // Expressions: evaluate.cpp.
  Result<Value> evaluate(ast::Expr expression, const ScopePtr& scope);
  Result<Value> value_of(const ast::Literal& literal, const ScopePtr& scope);
  Result<Value> value_of(const ast::Name& name, const ScopePtr& scope);
  Result<Value> value_of(const ast::ListLiteral& list, const ScopePtr& scope);
  Result<Value> value_of(const ast::DictLiteral& dict, const ScopePtr& scope);
  Result<Value> value_of(const ast::Attribute& attribute, const ScopePtr& scope);
  Result<Value> value_of(const ast::Subscript& subscript, const ScopePtr& scope);
  Result<Value> value_of(const ast::Slice& slice, const ScopePtr& scope);
  Result<Value> value_of(const ast::Call& call, const ScopePtr& scope);
  Result<Value> value_of(const ast::Filter& filter, const ScopePtr& scope);
  Result<Value> value_of(const ast::Test& test, const ScopePtr& scope);
  Result<Value> value_of(const ast::Unary& unary, const ScopePtr& scope);
  Result<Value> value_of(const ast::Arithmetic& arithmetic, const ScopePtr& scope);
  Result<Value> value_of(const ast::Concatenation& chain, const ScopePtr& scope);
  Result<Value> value_of(const ast::Logical& logical, const ScopePtr& scope);
  Result<Value> value_of(const ast::Comparison& comparison, const ScopePtr& scope);
  Result<Value> value_of(const ast::Conditional& conditional, const ScopePtr& scope);

  // Calls: call.cpp.
  Result<Value> call(const Value& callee, const Arguments& arguments);
  Result<Value> call_macro(const ast::Macro& macro, const ScopePtr& closure,
                           const Arguments& arguments);
  Status bind(const ast::Macro& macro, const Arguments& arguments, const ScopePtr& scope);
  Status bind_rest(const ast::Macro& macro, const Arguments& arguments, Scope& scope);
  Result<Arguments> arguments_of(const ast::CallArguments& arguments, const ScopePtr& scope);
  Result<Value> make_macro(const ast::Macro& macro, const ScopePtr& scope);

  Context& context_;
  ScopePtr root_;
  std::vector<ScopePtr> captured_;  // by macros, which those scopes may hold in turn
  size_t depth_ = 0;
};

// One node being evaluated inside of others.
class Interpreter::Depth {
 public:
  explicit Depth(Interpreter& interpreter) : interpreter_(interpreter) { ++interpreter_.depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  ~Depth() { --interpreter_.depth_; }

  Status check() const;

 private:
  Interpreter& interpreter_;
};

}  // namespace evener::chat::jinja
