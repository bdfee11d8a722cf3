#include "chat/jinja/expression_parser.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "chat/jinja/string_literal.h"

namespace evener::chat::jinja {
namespace {

using ast::Expr;
using Kind = Token::Kind;
using Compare = ast::Comparison::Operator;
using Math = ast::Arithmetic::Operator;

constexpr std::pair<const char*, Compare> kComparisons[] = {
    {"==", Compare::equal},      {"!=", Compare::not_equal}, {"<", Compare::less},
    {"<=", Compare::less_equal}, {">", Compare::greater},    {">=", Compare::greater_equal}};

constexpr const char* kMathSymbols[] = {"+", "-", "*", "/", "//", "%", "**"};

std::optional<Compare> skip_comparison(TokenReader& tokens) {
  for (const auto& [symbol, op] : kComparisons) {
    if (tokens.skip_symbol(symbol)) return op;
  }
  if (tokens.skip_name("in")) return Compare::in;
  if (tokens.peek().is_name("not") && tokens.peek(1).is_name("in")) {
    tokens.next();
    tokens.next();
    return Compare::not_in;
  }
  return std::nullopt;
}

// The words that Jinja reads as constants.
std::optional<Value> constant(const std::string& name) {
  if (name == "true" || name == "True") return Value::boolean(true);
  if (name == "false" || name == "False") return Value::boolean(false);
  if (name == "none" || name == "None") return Value::none();
  return std::nullopt;
}

Result<int64_t> read_integer(int line, std::string_view digits) {
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const char prefix = static_cast<char>(digits[1] | 0x20);
    base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
  }
  if (base != 10) digits.remove_prefix(2);
  int64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (result.ec == std::errc::result_out_of_range) {
    return template_too_large(line, fmt::format("the number {} does not fit into 64 bits", digits));
  }
  if (result.ec != std::errc() || result.ptr != digits.data() + digits.size()) {
    return syntax_error(line, fmt::format("'{}' is not a number", digits));
  }
  return value;
}

void note(ast::MacroNames& used, const std::string& name) {
  used.varargs = used.varargs || name == "varargs";
  used.kwargs = used.kwargs || name == "kwargs";
  used.caller = used.caller || name == "caller";
}

bool ends_arguments_of_test(const Token& token) {
  if (token.kind == Kind::name) {
    for (const char* word : {"else", "or", "and", "is", "if", "in", "not"}) {
      if (token.value == word) return true;
    }
    return false;
  }
  const bool literal =
      token.kind == Kind::string || token.kind == Kind::integer || token.kind == Kind::real;
  return !literal && !token.is_symbol("[") && !token.is_symbol("{");
}

}  // namespace

Result<Expr> ExpressionParser::expression() {
  const Nesting nesting(state_);
  RETURN_IF_ERROR(nesting.check());
  ASSIGN_OR_RETURN(Expr result, logical_or());
  while (tokens_.peek().is_name("if")) {
    const int line = tokens_.next().line;
    ASSIGN_OR_RETURN(const Expr condition, logical_or());
    Expr otherwise = nullptr;
    if (tokens_.skip_name("else")) {
      ASSIGN_OR_RETURN(otherwise, expression());
    }
    result = state_.expression(line, ast::Conditional{condition, result, otherwise});
  }
  return result;
}

Result<Expr> ExpressionParser::expression_without_if() {
  const int line = tokens_.line();
  ASSIGN_OR_RETURN(const Expr first, logical_or());
  if (!tokens_.peek().is_symbol(",")) return first;
  ast::ListLiteral tuple{.items = {first}, .is_tuple = true};
  while (tokens_.skip_symbol(",")) {
    ASSIGN_OR_RETURN(const Expr item, logical_or());
    tuple.items.push_back(item);
  }
  return state_.expression(line, std::move(tuple));
}

Result<Expr> ExpressionParser::expression_or_tuple() {
  const int line = tokens_.line();
  ASSIGN_OR_RETURN(const Expr first, expression());
  if (!tokens_.peek().is_symbol(",")) return first;
  ast::ListLiteral tuple{.items = {first}, .is_tuple = true};
  while (tokens_.skip_symbol(",")) {
    const Kind kind = tokens_.peek().kind;
    if (kind == Kind::block_end || kind == Kind::output_end || tokens_.peek().is_symbol(")")) break;
    ASSIGN_OR_RETURN(const Expr item, expression());
    tuple.items.push_back(item);
  }
  return state_.expression(line, std::move(tuple));
}

Result<Expr> ExpressionParser::logical_or() {
  ASSIGN_OR_RETURN(Expr left, logical_and());
  while (tokens_.peek().is_name("or")) {
    const int line = tokens_.next().line;
    ASSIGN_OR_RETURN(const Expr right, logical_and());
    left = state_.expression(line, ast::Logical{ast::Logical::Operator::logical_or, left, right});
  }
  return left;
}

Result<Expr> ExpressionParser::logical_and() {
  ASSIGN_OR_RETURN(Expr left, logical_not());
  while (tokens_.peek().is_name("and")) {
    const int line = tokens_.next().line;
    ASSIGN_OR_RETURN(const Expr right, logical_not());
    left = state_.expression(line, ast::Logical{ast::Logical::Operator::logical_and, left, right});
  }
  return left;
}

Result<Expr> ExpressionParser::logical_not() {
  if (!tokens_.peek().is_name("not")) return comparison();
  const Nesting nesting(state_);
  RETURN_IF_ERROR(nesting.check());
  const int line = tokens_.next().line;
  ASSIGN_OR_RETURN(const Expr operand, logical_not());
  return state_.expression(line, ast::Unary{ast::Unary::Operator::logical_not, operand});
}

Result<Expr> ExpressionParser::comparison() {
  const int line = tokens_.line();
  ASSIGN_OR_RETURN(const Expr first, sum());
  ast::Comparison comparison{.first = first, .steps = {}};
  while (const auto op = skip_comparison(tokens_)) {
    ASSIGN_OR_RETURN(const Expr operand, sum());
    comparison.steps.emplace_back(*op, operand);
  }
  return comparison.steps.empty() ? first : state_.expression(line, std::move(comparison));
}

Result<Expr> ExpressionParser::arithmetic_chain(LevelParser operand,
                                                std::initializer_list<Math> operators) {
  ASSIGN_OR_RETURN(Expr left, (this->*operand)());
  for (bool more = true; more;) {
    more = false;
    for (const Math op : operators) {
      const int line = tokens_.line();
      if (!tokens_.skip_symbol(kMathSymbols[static_cast<size_t>(op)])) continue;
      ASSIGN_OR_RETURN(const Expr right, (this->*operand)());
      left = state_.expression(line, ast::Arithmetic{op, left, right});
      more = true;
      break;
    }
  }
  return left;
}

Result<Expr> ExpressionParser::sum() {
  return arithmetic_chain(&ExpressionParser::concatenation, {Math::add, Math::subtract});
}

Result<Expr> ExpressionParser::concatenation() {
  const int line = tokens_.line();
  ASSIGN_OR_RETURN(const Expr first, product());
  if (!tokens_.peek().is_symbol("~")) return first;
  ast::Concatenation chain{.parts = {first}};
  while (tokens_.skip_symbol("~")) {
    ASSIGN_OR_RETURN(const Expr part, product());
    chain.parts.push_back(part);
  }
  return state_.expression(line, std::move(chain));
}

Result<Expr> ExpressionParser::product() {
  return arithmetic_chain(&ExpressionParser::power,
                          {Math::multiply, Math::floor_divide, Math::divide, Math::modulo});
}

// Left to right, unlike Python's: 2 ** 3 ** 2 is 64 in Jinja.
Result<Expr> ExpressionParser::power() {
  ASSIGN_OR_RETURN(Expr left, unary(true));
  while (tokens_.peek().is_symbol("**")) {
    const int line = tokens_.next().line;
    ASSIGN_OR_RETURN(const Expr right, unary(true));
    left = state_.expression(line, ast::Arithmetic{Math::power, left, right});
  }
  return left;
}

Result<Expr> ExpressionParser::unary(bool with_filters) {
  Expr result = nullptr;
  const bool negates = tokens_.peek().is_symbol("-");
  if (negates || tokens_.peek().is_symbol("+")) {
    const Nesting nesting(state_);
    RETURN_IF_ERROR(nesting.check());
    const int line = tokens_.next().line;
    ASSIGN_OR_RETURN(const Expr operand, unary(false));
    const auto op = negates ? ast::Unary::Operator::negate : ast::Unary::Operator::plus;
    result = state_.expression(line, ast::Unary{op, operand});
  } else {
    ASSIGN_OR_RETURN(result, postfix_expression());
  }
  return with_filters ? filter_suffix(result) : Result<Expr>(result);
}

Result<Expr> ExpressionParser::postfix_expression() {
  ASSIGN_OR_RETURN(const Expr object, primary());
  return postfix(object);
}

Result<Expr> ExpressionParser::primary() {
  const Token& token = tokens_.peek();
  switch (token.kind) {
    case Kind::name: {
      const Token name = tokens_.next();
      if (auto value = constant(name.value)) {
        return state_.expression(name.line, ast::Literal{*std::move(value)});
      }
      note(state_.names_used, name.value);
      return state_.expression(name.line, ast::Name{name.value});
    }
    case Kind::string:
      return string();
    case Kind::integer:
    case Kind::real:
      return number();
    default:
      if (token.is_symbol("(")) return parenthesised();
      if (token.is_symbol("[")) return list();
      if (token.is_symbol("{")) return dict();
      return tokens_.unexpected("a value");
  }
}

Result<Expr> ExpressionParser::number() {
  const Token token = tokens_.next();
  if (token.kind == Kind::integer) {
    ASSIGN_OR_RETURN(const int64_t value, read_integer(token.line, token.value));
    return state_.expression(token.line, ast::Literal{Value::integer(value)});
  }
  double value = 0;
  const char* end = token.value.data() + token.value.size();
  const auto result = std::from_chars(token.value.data(), end, value);
  if (result.ec != std::errc()) {
    return template_too_large(token.line, "a number is beyond the range of a double");
  }
  return state_.expression(token.line, ast::Literal{Value::real(value)});
}

// Neighbouring strings are one.
Result<Expr> ExpressionParser::string() {
  const int line = tokens_.line();
  std::string text;
  while (tokens_.peek().kind == Kind::string) text += tokens_.next().value;
  return state_.expression(line, ast::Literal{Value::constant(std::move(text))});
}

Result<Expr> ExpressionParser::parenthesised() {
  const int line = tokens_.next().line;
  if (tokens_.skip_symbol(")")) {
    return state_.expression(line, ast::ListLiteral{.items = {}, .is_tuple = true});
  }
  ASSIGN_OR_RETURN(const Expr inside, expression_or_tuple());
  RETURN_IF_ERROR(tokens_.expect_symbol(")"));
  return inside;
}

Result<Expr> ExpressionParser::list() {
  const int line = tokens_.next().line;
  ast::ListLiteral list;
  while (!tokens_.skip_symbol("]")) {
    if (!list.items.empty()) {
      RETURN_IF_ERROR(tokens_.expect_symbol(","));
      if (tokens_.skip_symbol("]")) break;
    }
    ASSIGN_OR_RETURN(const Expr item, expression());
    list.items.push_back(item);
  }
  return state_.expression(line, std::move(list));
}

Result<Expr> ExpressionParser::dict() {
  const int line = tokens_.next().line;
  ast::DictLiteral dict;
  while (!tokens_.skip_symbol("}")) {
    if (!dict.entries.empty()) {
      RETURN_IF_ERROR(tokens_.expect_symbol(","));
      if (tokens_.skip_symbol("}")) break;
    }
    ASSIGN_OR_RETURN(const Expr key, expression());
    RETURN_IF_ERROR(tokens_.expect_symbol(":"));
    ASSIGN_OR_RETURN(const Expr value, expression());
    dict.entries.emplace_back(key, value);
  }
  return state_.expression(line, std::move(dict));
}

Result<Expr> ExpressionParser::postfix(Expr object) {
  for (;;) {
    const int line = tokens_.line();
    if (tokens_.skip_symbol(".")) {
      ASSIGN_OR_RETURN(object, attribute(object));
    } else if (tokens_.skip_symbol("[")) {
      ASSIGN_OR_RETURN(object, subscript(object));
    } else if (tokens_.skip_symbol("(")) {
      ASSIGN_OR_RETURN(ast::CallArguments call_arguments, arguments());
      object = state_.expression(line, ast::Call{object, std::move(call_arguments)});
    } else {
      return object;
    }
  }
}

Result<Expr> ExpressionParser::attribute(Expr object) {
  const Token token = tokens_.peek();
  if (token.kind == Kind::integer) {
    ASSIGN_OR_RETURN(const Expr index, number());
    return state_.expression(token.line, ast::Subscript{object, index});
  }
  ASSIGN_OR_RETURN(std::string name, tokens_.expect_identifier());
  return state_.expression(token.line, ast::Attribute{object, std::move(name)});
}

Result<Expr> ExpressionParser::subscript(Expr object) {
  const int line = tokens_.line();
  if (tokens_.skip_symbol(":")) return slice(object, nullptr);
  ASSIGN_OR_RETURN(const Expr index, expression());
  if (tokens_.skip_symbol(":")) return slice(object, index);
  RETURN_IF_ERROR(tokens_.expect_symbol("]"));
  return state_.expression(line, ast::Subscript{object, index});
}

// Behind the first colon.
Result<Expr> ExpressionParser::slice(Expr object, Expr start) {
  ast::Slice slice{.object = object, .start = start, .stop = nullptr, .step = nullptr};
  const int line = tokens_.line();
  if (!tokens_.peek().is_symbol(":") && !tokens_.peek().is_symbol("]")) {
    ASSIGN_OR_RETURN(slice.stop, expression());
  }
  if (tokens_.skip_symbol(":") && !tokens_.peek().is_symbol("]")) {
    ASSIGN_OR_RETURN(slice.step, expression());
  }
  RETURN_IF_ERROR(tokens_.expect_symbol("]"));
  return state_.expression(line, slice);
}

Result<ast::CallArguments> ExpressionParser::arguments() {
  ast::CallArguments result;
  while (!tokens_.skip_symbol(")")) {
    RETURN_IF_ERROR(argument(result));
    if (!tokens_.peek().is_symbol(")")) RETURN_IF_ERROR(tokens_.expect_symbol(","));
  }
  return result;
}

Status ExpressionParser::argument(ast::CallArguments& into) {
  if (into.named_spread != nullptr) return tokens_.unexpected("')' behind **");
  if (tokens_.skip_symbol("**")) {
    ASSIGN_OR_RETURN(into.named_spread, expression());
    return {};
  }
  if (tokens_.peek().is_symbol("*")) {
    if (into.spread != nullptr) return tokens_.unexpected("only one *");
    tokens_.next();
    ASSIGN_OR_RETURN(into.spread, expression());
    return {};
  }
  if (tokens_.peek().kind == Kind::name && tokens_.peek(1).is_symbol("=")) {
    std::string name = tokens_.next().value;
    tokens_.next();
    ASSIGN_OR_RETURN(const Expr value, expression());
    into.named.emplace_back(std::move(name), value);
    return {};
  }
  if (!into.named.empty() || into.spread != nullptr) {
    return tokens_.unexpected("a named argument (positional ones come first)");
  }
  ASSIGN_OR_RETURN(const Expr value, expression());
  into.positional.push_back(value);
  return {};
}

Result<Expr> ExpressionParser::filter_suffix(Expr operand) {
  for (;;) {
    const int line = tokens_.line();
    if (tokens_.skip_symbol("|")) {
      ASSIGN_OR_RETURN(operand, filter(operand));
    } else if (tokens_.skip_name("is")) {
      ASSIGN_OR_RETURN(operand, test(operand));
    } else if (tokens_.skip_symbol("(")) {
      ASSIGN_OR_RETURN(ast::CallArguments call_arguments, arguments());
      operand = state_.expression(line, ast::Call{operand, std::move(call_arguments)});
    } else {
      return operand;
    }
  }
}

Result<Expr> ExpressionParser::filter(Expr operand) {
  const int line = tokens_.line();
  ast::Filter filter{.operand = operand, .name = {}, .arguments = {}};
  ASSIGN_OR_RETURN(filter.name, tokens_.expect_identifier());
  if (tokens_.skip_symbol("(")) {
    ASSIGN_OR_RETURN(filter.arguments, arguments());
  }
  return state_.expression(line, std::move(filter));
}

Result<Expr> ExpressionParser::filters(Expr operand) {
  do {
    ASSIGN_OR_RETURN(operand, filter(operand));
  } while (tokens_.skip_symbol("|"));
  return operand;
}

// x is divisibleby 3, x is divisibleby(3), x is not none.
Result<Expr> ExpressionParser::test(Expr operand) {
  const Nesting nesting(state_);
  RETURN_IF_ERROR(nesting.check());
  const int line = tokens_.line();
  const bool negated = tokens_.skip_name("not");
  ast::Test test{.operand = operand, .name = {}, .arguments = {}};
  ASSIGN_OR_RETURN(test.name, tokens_.expect_identifier());
  if (tokens_.skip_symbol("(")) {
    ASSIGN_OR_RETURN(test.arguments, arguments());
  } else if (!ends_arguments_of_test(tokens_.peek())) {
    ASSIGN_OR_RETURN(const Expr argument, postfix_expression());
    test.arguments.positional.push_back(argument);
  }
  const Expr result = state_.expression(line, std::move(test));
  if (!negated) return result;
  return state_.expression(line, ast::Unary{ast::Unary::Operator::logical_not, result});
}

}  // namespace evener::chat::jinja
