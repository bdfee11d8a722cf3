#pragma once

#include <fmt/format.h>

#include <utility>

#include "chat/jinja/ast.h"
#include "chat/jinja/syntax_error.h"
#include "chat/jinja/token_reader.h"
#include "chat/template_limits.h"

namespace evener::chat::jinja {

// What the parsers of expressions and statements share.
struct ParseState {
  TokenReader& tokens;
  const TemplateLimits& limits;
  ast::Tree tree;
  size_t depth = 0;
  ast::MacroNames names_used = {};  // so far in the macro that is being read

  template <class Node>
  ast::Expr expression(int line, Node node) {
    return &tree.expressions.emplace_back(ast::Expression{line, std::move(node)});
  }
  template <class Node>
  const ast::Statement* statement(int line, Node node) {
    return &tree.statements.emplace_back(ast::Statement{line, std::move(node)});
  }
};

// One level of nesting in the text, for as long as it lives.
class Nesting {
 public:
  explicit Nesting(ParseState& state) : state_(state) { ++state_.depth; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  ~Nesting() { --state_.depth; }

  Status check() const {
    if (state_.depth <= state_.limits.nesting_depth) return {};
    return template_too_large(state_.tokens.line(), fmt::format("the template nests deeper than {}",
                                                                state_.limits.nesting_depth));
  }

 private:
  ParseState& state_;
};

}  // namespace evener::chat::jinja
