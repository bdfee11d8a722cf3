#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "chat/jinja/value.h"

// A template as a tree. Nodes live in one Tree and point at each other; a null pointer is a part
// that was not written.
namespace evener::chat::jinja::ast {

struct Expression;
using Expr = const Expression*;

struct CallArguments {
  std::vector<Expr> positional;
  std::vector<std::pair<std::string, Expr>> named;
  Expr spread = nullptr;        // *list
  Expr named_spread = nullptr;  // **mapping
};

struct Literal {
  Value value;
};
struct Name {
  std::string name;
};
struct ListLiteral {
  std::vector<Expr> items;
  bool is_tuple = false;
};
struct DictLiteral {
  std::vector<std::pair<Expr, Expr>> entries;
};
struct Attribute {  // object.name
  Expr object = nullptr;
  std::string name;
};
struct Subscript {  // object[index]
  Expr object = nullptr;
  Expr index = nullptr;
};
struct Slice {  // object[start:stop:step]
  Expr object = nullptr;
  Expr start = nullptr;
  Expr stop = nullptr;
  Expr step = nullptr;
};
struct Call {
  Expr callee = nullptr;
  CallArguments arguments;
};
struct Filter {  // operand | name(arguments)
  Expr operand = nullptr;
  std::string name;
  CallArguments arguments;
};
struct Test {  // operand is name(arguments)
  Expr operand = nullptr;
  std::string name;
  CallArguments arguments;
};
struct Unary {
  enum class Operator { negate, plus, logical_not };
  Operator op = Operator::negate;
  Expr operand = nullptr;
};
struct Arithmetic {
  enum class Operator { add, subtract, multiply, divide, floor_divide, modulo, power };
  Operator op = Operator::add;
  Expr left = nullptr;
  Expr right = nullptr;
};
struct Concatenation {  // a ~ b ~ c
  std::vector<Expr> parts;
};
struct Logical {
  enum class Operator { logical_and, logical_or };
  Operator op = Operator::logical_and;
  Expr left = nullptr;
  Expr right = nullptr;
};
struct Comparison {  // first < b <= c: every step holds, each operand is evaluated once
  enum class Operator { equal, not_equal, less, less_equal, greater, greater_equal, in, not_in };
  Expr first = nullptr;
  std::vector<std::pair<Operator, Expr>> steps;
};
struct Conditional {  // then if condition else otherwise
  Expr condition = nullptr;
  Expr then = nullptr;
  Expr otherwise = nullptr;
};

struct Expression {
  using Node = std::variant<Literal, Name, ListLiteral, DictLiteral, Attribute, Subscript, Slice,
                            Call, Filter, Test, Unary, Arithmetic, Concatenation, Logical,
                            Comparison, Conditional>;
  int line = 1;
  Node node;
};

// What a value is assigned to: a name, an attribute of a namespace, or several of them.
struct Target {
  std::string name;
  std::string attribute;      // of the namespace `name`, else empty
  std::vector<Target> items;  // for a, (b, c)
};

struct Statement;
using Block = std::vector<const Statement*>;

struct Text {
  std::string text;
};
struct Output {  // {{ expression }}
  Expr expression = nullptr;
};
struct If {
  std::vector<std::pair<Expr, Block>> branches;
  Block otherwise;
};
struct For {
  Target target;
  Expr iterable = nullptr;
  Expr condition = nullptr;
  Block body;
  Block otherwise;
};
struct Set {  // {% set target = value %}, also one of {% with %}
  Target target;
  Expr value = nullptr;
};
struct SetBlock {  // {% set name %}...{% endset %}
  Target target;
  Expr filtered = nullptr;  // a chain of filters over captured_text
  Block body;
};
// The names that a macro gets on top of its parameters, if its body mentions them.
struct MacroNames {
  bool varargs = false;
  bool kwargs = false;
  bool caller = false;
};
struct Macro {
  struct Parameter {
    std::string name;
    Expr otherwise = nullptr;
  };
  std::string name;  // "caller" for the body of a {% call %}
  std::vector<Parameter> parameters;
  Block body;
  MacroNames uses;
};
struct MacroDefinition {
  Macro macro;
};
struct CallBlock {  // {% call(parameters) expression %}...{% endcall %}
  Macro caller;
  Expr call = nullptr;
};
struct FilterBlock {  // {% filter name %}...{% endfilter %}
  Expr filtered = nullptr;
  Block body;
};
struct Scoped {  // {% with %}, {% generation %}: variables set inside stay inside
  std::vector<Set> assignments;
  Block body;
};
struct Do {  // {% do expression %}
  Expr expression = nullptr;
};
struct Break {};
struct Continue {};

struct Statement {
  using Node = std::variant<Text, Output, If, For, Set, SetBlock, MacroDefinition, CallBlock,
                            FilterBlock, Scoped, Do, Break, Continue>;
  int line = 1;
  Node node;
};

// Where the filters of a SetBlock or FilterBlock find the block's text: a name that no template can
// write.
inline constexpr const char* kCapturedText = "<text>";

struct Tree {
  std::deque<Expression> expressions;
  std::deque<Statement> statements;
  Block root;
};

}  // namespace evener::chat::jinja::ast
