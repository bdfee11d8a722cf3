#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/jinja/value.h"

namespace evener::chat::jinja {

// Variables of one loop iteration, macro call or block, in front of those around it. Names must
// outlive the scope: they live in the template's tree or with the caller of the rendering.
class Scope {
 public:
  explicit Scope(std::shared_ptr<Scope> parent) : parent_(std::move(parent)) {}

  // Null if no scope from here outwards has it.
  const Value* find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->parent_.get()) {
      for (const auto& [known, value] : scope->variables_) {
        if (known == name) return &value;
      }
    }
    return nullptr;
  }

  void set(std::string_view name, Value value) {
    for (auto& [known, held] : variables_) {
      if (known == name) {
        held = std::move(value);
        return;
      }
    }
    variables_.emplace_back(name, std::move(value));
  }

  // Lets go of everything: a macro in here may hold this very scope.
  void clear() { variables_.clear(); }

 private:
  std::shared_ptr<Scope> parent_;
  std::vector<std::pair<std::string_view, Value>> variables_;
};

using ScopePtr = std::shared_ptr<Scope>;

}  // namespace evener::chat::jinja
