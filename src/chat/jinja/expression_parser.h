#pragma once

#include "chat/jinja/parse_state.h"

namespace evener::chat::jinja {

// Reads expressions with the precedence of Jinja 3, from weakest to strongest:
//     a if b else c | or | and | not | comparisons, in | + - | ~ | * / // % | ** | unary + -
//     | filters, tests, calls, attributes
class ExpressionParser {
 public:
  explicit ExpressionParser(ParseState& state) : state_(state), tokens_(state.tokens) {}

  Result<ast::Expr> expression();                // may be `a if b else c`
  Result<ast::Expr> expression_without_if();     // `for x in HERE if ...`
  Result<ast::Expr> expression_or_tuple();       // `a, b` too
  Result<ast::Expr> filters(ast::Expr operand);  // "name(...) | name(...)", of block filters
  Result<ast::CallArguments> arguments();        // behind the opening parenthesis
  Result<ast::Expr> postfix_expression();        // a primary with calls and attributes, no filter

 private:
  using LevelParser = Result<ast::Expr> (ExpressionParser::*)();

  Result<ast::Expr> logical_or();
  Result<ast::Expr> logical_and();
  Result<ast::Expr> logical_not();
  Result<ast::Expr> comparison();
  Result<ast::Expr> sum();
  Result<ast::Expr> concatenation();
  Result<ast::Expr> product();
  Result<ast::Expr> power();
  Result<ast::Expr> unary(bool with_filters);
  Result<ast::Expr> primary();
  Result<ast::Expr> number();
  Result<ast::Expr> string();
  Result<ast::Expr> parenthesised();
  Result<ast::Expr> list();
  Result<ast::Expr> dict();
  Result<ast::Expr> postfix(ast::Expr object);
  Result<ast::Expr> attribute(ast::Expr object);
  Result<ast::Expr> subscript(ast::Expr object);
  Result<ast::Expr> slice(ast::Expr object, ast::Expr start);
  Result<ast::Expr> filter_suffix(ast::Expr operand);
  Result<ast::Expr> filter(ast::Expr operand);
  Result<ast::Expr> test(ast::Expr operand);
  Status argument(ast::CallArguments& into);
  Result<ast::Expr> arithmetic_chain(LevelParser operand,
                                     std::initializer_list<ast::Arithmetic::Operator> operators);

  ParseState& state_;
  TokenReader& tokens_;
};

}  // namespace evener::chat::jinja
