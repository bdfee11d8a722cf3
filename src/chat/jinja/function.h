#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "chat/jinja/value.h"

namespace evener::chat::jinja {

struct Context;
class Scope;
namespace ast {
struct Macro;
}

// The arguments of one call, in the order they were written.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

// Anything that a template can call.
class Function {
 public:
  using Native = Result<Value> (*)(Context&, const Arguments&);

  // A function of ours: range, namespace, ...
  struct BuiltIn {
    const char* name;
    Native run;
  };
  // message.content.startswith, kept without calling it.
  struct Method {
    Value self;
    std::string name;
  };
  // A macro or the body of a {% call %}, with the variables it can see.
  struct Macro {
    const ast::Macro* definition;
    std::shared_ptr<Scope> scope;
  };
  using Held = std::variant<BuiltIn, Method, Macro>;

  explicit Function(BuiltIn built_in) : held_(built_in) {}
  Function(Budget& budget, Held held) : held_(std::move(held)), share_(budget, kBytes) {}

  const Held& held() const { return held_; }

  static Result<Value> make(Budget& budget, Held held) {
    RETURN_IF_ERROR(budget.take(kBytes));
    return Value(Value::Held(std::make_shared<const Function>(budget, std::move(held))));
  }

 private:
  static constexpr size_t kBytes = 128;

  Held held_;
  Share share_;
};

}  // namespace evener::chat::jinja
