#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "chat/jinja/failure.h"
#include "chat/jinja/interpreter.h"
#include "chat/jinja/members.h"
#include "chat/jinja/operators.h"

namespace evener::chat::jinja {
namespace {

constexpr size_t kCapturedScopeBytes = 256;

const Value* find_named(const Arguments& arguments, std::string_view name) {
  const auto found = std::find_if(arguments.named.begin(), arguments.named.end(),
                                  [&](const auto& argument) { return argument.first == name; });
  return found == arguments.named.end() ? nullptr : &found->second;
}

bool is_parameter(const ast::Macro& macro, std::string_view name) {
  return std::any_of(macro.parameters.begin(), macro.parameters.end(),
                     [&](const auto& parameter) { return parameter.name == name; });
}

}  // namespace

Result<Value> Interpreter::call(const Value& callee, const Arguments& arguments) {
  if (callee.is_undefined()) return undefined_error(callee);
  const Function* function = callee.function();
  if (function == nullptr) {
    return refuse(fmt::format("a value of type {} cannot be called", callee.type()));
  }
  if (const auto* built_in = std::get_if<Function::BuiltIn>(&function->held())) {
    return built_in->run(context_, arguments);
  }
  if (const auto* method = std::get_if<Function::Method>(&function->held())) {
    return call_method(context_, method->self, method->name, arguments);
  }
  // Kept by value: the macro may replace the variable that holds it.
  const auto macro = std::get<Function::Macro>(function->held());
  return call_macro(*macro.definition, macro.scope, arguments);
}

Result<Value> Interpreter::call_macro(const ast::Macro& macro, const ScopePtr& closure,
                                      const Arguments& arguments) {
  const Depth depth(*this);
  RETURN_IF_ERROR(depth.check());
  const auto scope = std::make_shared<Scope>(closure);
  RETURN_IF_ERROR(bind(macro, arguments, scope));
  TextSink sink(context_.budget);
  RETURN_IF_ERROR(run(macro.body, scope, sink));
  return make_string(context_.budget, sink.take());
}

Status Interpreter::bind(const ast::Macro& macro, const Arguments& arguments,
                         const ScopePtr& scope) {
  std::vector<const ast::Macro::Parameter*> missing;
  for (size_t i = 0; i < macro.parameters.size(); ++i) {
    const auto& parameter = macro.parameters[i];
    const Value* named = find_named(arguments, parameter.name);
    const bool by_position = i < arguments.positional.size();
    if (by_position && named != nullptr) {
      return refuse(fmt::format("macro '{}' was given '{}' twice", macro.name, parameter.name));
    }
    if (!by_position && named == nullptr) missing.push_back(&parameter);
    scope->set(parameter.name, by_position ? arguments.positional[i] : named ? *named : Value());
  }
  RETURN_IF_ERROR(bind_rest(macro, arguments, *scope));
  for (const auto* parameter : missing) {
    if (parameter->otherwise == nullptr) continue;
    ASSIGN_OR_RETURN(Value value, evaluate(parameter->otherwise, scope));
    scope->set(parameter->name, std::move(value));
  }
  return {};
}

// Arguments beyond the parameters: caller, varargs and kwargs, if the macro mentions them.
Status Interpreter::bind_rest(const ast::Macro& macro, const Arguments& arguments, Scope& scope) {
  std::vector<Value> positional;
  for (size_t i = macro.parameters.size(); i < arguments.positional.size(); ++i) {
    positional.push_back(arguments.positional[i]);
  }
  if (!macro.uses.varargs && !positional.empty()) {
    return refuse(fmt::format("macro '{}' takes not more than {} argument(s)", macro.name,
                              macro.parameters.size()));
  }
  std::vector<std::pair<Value, Value>> named;
  for (const auto& [name, value] : arguments.named) {
    if (is_parameter(macro, name)) continue;
    if (name == "caller" && macro.uses.caller) {
      scope.set("caller", value);
      continue;
    }
    if (!macro.uses.kwargs) {
      return refuse(fmt::format("macro '{}' takes no keyword argument '{}'", macro.name,
                                printable(name, 60)));
    }
    ASSIGN_OR_RETURN(Value key, make_string(context_.budget, name));
    named.emplace_back(std::move(key), value);
  }
  if (macro.uses.varargs) {
    ASSIGN_OR_RETURN(Value varargs, make_tuple(context_.budget, std::move(positional)));
    scope.set("varargs", std::move(varargs));
  }
  if (macro.uses.kwargs) {
    ASSIGN_OR_RETURN(Value kwargs, make_dict(context_.budget, std::move(named)));
    scope.set("kwargs", std::move(kwargs));
  }
  return {};
}

Result<Arguments> Interpreter::arguments_of(const ast::CallArguments& arguments,
                                            const ScopePtr& scope) {
  Arguments result;
  for (const ast::Expr expression : arguments.positional) {
    ASSIGN_OR_RETURN(Value value, evaluate(expression, scope));
    result.positional.push_back(std::move(value));
  }
  if (arguments.spread != nullptr) {
    ASSIGN_OR_RETURN(const Value spread, evaluate(arguments.spread, scope));
    ASSIGN_OR_RETURN(const std::vector<Value> items, elements(context_.budget, spread));
    result.positional.insert(result.positional.end(), items.begin(), items.end());
  }
  for (const auto& [name, expression] : arguments.named) {
    ASSIGN_OR_RETURN(Value value, evaluate(expression, scope));
    if (find_named(result, name) != nullptr) {
      return refuse(fmt::format("the argument '{}' is given twice", name));
    }
    result.named.emplace_back(name, std::move(value));
  }
  if (arguments.named_spread == nullptr) return result;
  ASSIGN_OR_RETURN(const Value spread, evaluate(arguments.named_spread, scope));
  if (spread.dict() == nullptr) return refuse("** needs a mapping");
  for (const auto& [key, value] : spread.dict()->entries()) {
    if (key.text() == nullptr) return refuse("** needs names that are strings");
    if (find_named(result, *key.text()) != nullptr) {
      return refuse(fmt::format("the argument '{}' is given twice", printable(*key.text(), 60)));
    }
    result.named.emplace_back(*key.text(), value);
  }
  RETURN_IF_ERROR(context_.budget.work(result.named.size() * result.named.size() / 16));
  return result;
}

Result<Value> Interpreter::make_macro(const ast::Macro& macro, const ScopePtr& scope) {
  if (captured_.empty() || captured_.back() != scope) {
    RETURN_IF_ERROR(context_.budget.take(kCapturedScopeBytes));
    captured_.push_back(scope);
  }
  return Function::make(context_.budget, Function::Macro{&macro, scope});
}

}  // namespace evener::chat::jinja
