#include "chat/jinja/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "chat/jinja/expression_parser.h"
#include "chat/jinja/lexer.h"

namespace evener::chat::jinja {
namespace {

using ast::Block;
using ast::Expr;
using Kind = Token::Kind;
using StatementPtr = const ast::Statement*;
using Words = std::initializer_list<const char*>;

constexpr const char* kKnownButLacking[] = {"include", "import", "from",       "extends",
                                            "block",   "trans",  "autoescape", "pluralize"};

class StatementParser {
 public:
  explicit StatementParser(ParseState& state)
      : state_(state), tokens_(state.tokens), expressions_(state) {}

  Status parse_root() {
    ASSIGN_OR_RETURN(state_.tree.root, block({}));
    return {};
  }

 private:
  using Handler = Result<StatementPtr> (StatementParser::*)(int line);
  struct Tag {
    const char* name;
    Handler parse;  // behind the tag's name, up to and with its last %}
  };
  static const Tag* find(std::string_view name);

  // Statements up to `{% word`, whose word is the current token then. With no words: to the end.
  Result<Block> block(Words ends) {
    const Nesting nesting(state_);
    RETURN_IF_ERROR(nesting.check());
    Block statements;
    const int begin = tokens_.previous_line();
    for (;;) {
      const Token& token = tokens_.peek();
      if (token.kind == Kind::end) {
        if (ends.size() == 0) return statements;
        return syntax_error(begin, fmt::format("the block that begins here is never closed with "
                                               "{{% {} %}}",
                                               *(ends.end() - 1)));
      }
      if (token.kind == Kind::block_begin && at_word(ends)) {
        tokens_.next();
        return statements;
      }
      ASSIGN_OR_RETURN(const StatementPtr statement, this->statement());
      statements.push_back(statement);
    }
  }

  bool at_word(Words words) const {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return tokens_.peek(1).is_name(word); });
  }

  Result<StatementPtr> statement() {
    const Token token = tokens_.next();
    if (token.kind == Kind::text) return state_.statement(token.line, ast::Text{token.value});
    if (token.kind == Kind::output_begin) {
      ASSIGN_OR_RETURN(const Expr expression, expressions_.expression_or_tuple());
      RETURN_IF_ERROR(tokens_.expect(Kind::output_end));
      return state_.statement(token.line, ast::Output{expression});
    }
    return tag(token.line);
  }

  Result<StatementPtr> tag(int line) {
    ASSIGN_OR_RETURN(const std::string name, tokens_.expect_identifier());
    if (const Tag* tag = find(name)) return (this->*tag->parse)(line);
    for (const char* lacking : kKnownButLacking) {
      if (name == lacking) {
        return unsupported_syntax(line, fmt::format("{{% {} %}} is not available here", name));
      }
    }
    return syntax_error(
        line, fmt::format("there is no tag {{% {} %}} that could stand here", printable(name, 40)));
  }

  Status close_tag() { return tokens_.expect(Kind::block_end); }

  Result<Block> body(const char* end) {
    RETURN_IF_ERROR(close_tag());
    ASSIGN_OR_RETURN(Block statements, block({end}));
    tokens_.next();
    RETURN_IF_ERROR(close_tag());
    return statements;
  }

  Result<StatementPtr> parse_if(int line) {
    ast::If result;
    for (;;) {
      ASSIGN_OR_RETURN(const Expr condition, expressions_.expression());
      RETURN_IF_ERROR(close_tag());
      ASSIGN_OR_RETURN(Block statements, block({"elif", "else", "endif"}));
      result.branches.emplace_back(condition, std::move(statements));
      if (!tokens_.skip_name("elif")) break;
    }
    if (tokens_.skip_name("else")) {
      RETURN_IF_ERROR(close_tag());
      ASSIGN_OR_RETURN(result.otherwise, block({"endif"}));
    }
    RETURN_IF_ERROR(tokens_.expect_name("endif"));
    RETURN_IF_ERROR(close_tag());
    return state_.statement(line, std::move(result));
  }

  Result<StatementPtr> parse_for(int line) {
    ast::For result;
    ASSIGN_OR_RETURN(result.target, targets());
    RETURN_IF_ERROR(tokens_.expect_name("in"));
    ASSIGN_OR_RETURN(result.iterable, expressions_.expression_without_if());
    if (tokens_.skip_name("if")) {
      ASSIGN_OR_RETURN(result.condition, expressions_.expression());
    }
    if (tokens_.peek().is_name("recursive")) {
      return unsupported_syntax(line, "recursive loops are not available here");
    }
    RETURN_IF_ERROR(close_tag());
    ++loops_;
    ASSIGN_OR_RETURN(result.body, block({"else", "endfor"}));
    --loops_;
    if (tokens_.skip_name("else")) {
      RETURN_IF_ERROR(close_tag());
      ASSIGN_OR_RETURN(result.otherwise, block({"endfor"}));
    }
    RETURN_IF_ERROR(tokens_.expect_name("endfor"));
    RETURN_IF_ERROR(close_tag());
    return state_.statement(line, std::move(result));
  }

  // a | a, b | a, (b, c) | names.attribute
  Result<ast::Target> targets() {
    ASSIGN_OR_RETURN(ast::Target first, target());
    if (!tokens_.peek().is_symbol(",")) return first;
    ast::Target all;
    all.items.push_back(std::move(first));
    while (tokens_.skip_symbol(",")) {
      if (tokens_.peek().is_name("in") || tokens_.peek().is_symbol("=")) break;
      ASSIGN_OR_RETURN(ast::Target next, target());
      all.items.push_back(std::move(next));
    }
    return all;
  }

  Result<ast::Target> target() {
    const Nesting nesting(state_);
    RETURN_IF_ERROR(nesting.check());
    if (tokens_.skip_symbol("(")) {
      ASSIGN_OR_RETURN(ast::Target inside, targets());
      RETURN_IF_ERROR(tokens_.expect_symbol(")"));
      return inside;
    }
    ast::Target result;
    const int line = tokens_.line();
    ASSIGN_OR_RETURN(result.name, tokens_.expect_identifier());
    for (const char* word : {"true", "false", "none", "True", "False", "None"}) {
      if (result.name == word) return syntax_error(line, fmt::format("'{}' cannot be set", word));
    }
    if (tokens_.skip_symbol(".")) {
      ASSIGN_OR_RETURN(result.attribute, tokens_.expect_identifier());
    }
    return result;
  }

  Result<StatementPtr> parse_set(int line) {
    ASSIGN_OR_RETURN(ast::Target target, targets());
    if (tokens_.skip_symbol("=")) {
      ASSIGN_OR_RETURN(const Expr value, expressions_.expression_or_tuple());
      RETURN_IF_ERROR(close_tag());
      return state_.statement(line, ast::Set{std::move(target), value});
    }
    ast::SetBlock result{.target = std::move(target), .filtered = nullptr, .body = {}};
    if (tokens_.skip_symbol("|")) {
      ASSIGN_OR_RETURN(result.filtered, block_filters(line));
    }
    ASSIGN_OR_RETURN(result.body, body("endset"));
    return state_.statement(line, std::move(result));
  }

  Result<Expr> block_filters(int line) {
    return expressions_.filters(state_.expression(line, ast::Name{ast::kCapturedText}));
  }

  Result<StatementPtr> parse_filter(int line) {
    ast::FilterBlock result;
    ASSIGN_OR_RETURN(result.filtered, block_filters(line));
    ASSIGN_OR_RETURN(result.body, body("endfilter"));
    return state_.statement(line, std::move(result));
  }

  // Behind the opening parenthesis.
  Result<std::vector<ast::Macro::Parameter>> parameters() {
    std::vector<ast::Macro::Parameter> result;
    while (!tokens_.skip_symbol(")")) {
      const int line = tokens_.line();
      ast::Macro::Parameter parameter;
      ASSIGN_OR_RETURN(parameter.name, tokens_.expect_identifier());
      for (const auto& other : result) {
        if (other.name == parameter.name) {
          return syntax_error(line, fmt::format("the parameter '{}' is named twice", other.name));
        }
      }
      if (tokens_.skip_symbol("=")) {
        ASSIGN_OR_RETURN(parameter.otherwise, expressions_.expression());
      } else if (!result.empty() && result.back().otherwise != nullptr) {
        return syntax_error(line, fmt::format("the parameter '{}' needs a default, as the one "
                                              "before it has one",
                                              parameter.name));
      }
      result.push_back(std::move(parameter));
      if (!tokens_.peek().is_symbol(")")) RETURN_IF_ERROR(tokens_.expect_symbol(","));
    }
    return result;
  }

  // A loop outside of a macro is none for a break inside of it.
  Status macro_body(ast::Macro& macro, const char* end) {
    const size_t loops = std::exchange(loops_, 0);
    const ast::MacroNames outside = std::exchange(state_.names_used, {});
    ASSIGN_OR_RETURN(macro.body, body(end));
    macro.uses = std::exchange(state_.names_used, outside);
    loops_ = loops;
    return {};
  }

  Result<StatementPtr> parse_macro(int line) {
    ast::Macro macro;
    ASSIGN_OR_RETURN(macro.name, tokens_.expect_identifier());
    RETURN_IF_ERROR(tokens_.expect_symbol("("));
    ASSIGN_OR_RETURN(macro.parameters, parameters());
    RETURN_IF_ERROR(macro_body(macro, "endmacro"));
    return state_.statement(line, ast::MacroDefinition{std::move(macro)});
  }

  Result<StatementPtr> parse_call(int line) {
    ast::CallBlock result;
    result.caller.name = "caller";
    if (tokens_.skip_symbol("(")) {
      ASSIGN_OR_RETURN(result.caller.parameters, parameters());
    }
    ASSIGN_OR_RETURN(result.call, expressions_.postfix_expression());
    if (!std::holds_alternative<ast::Call>(result.call->node)) {
      return syntax_error(line, "{% call %} needs the call of a macro");
    }
    RETURN_IF_ERROR(macro_body(result.caller, "endcall"));
    return state_.statement(line, std::move(result));
  }

  Result<StatementPtr> parse_with(int line) {
    ast::Scoped result;
    while (tokens_.peek().kind != Kind::block_end) {
      if (!result.assignments.empty()) RETURN_IF_ERROR(tokens_.expect_symbol(","));
      ast::Set assignment;
      ASSIGN_OR_RETURN(assignment.target, target());
      RETURN_IF_ERROR(tokens_.expect_symbol("="));
      ASSIGN_OR_RETURN(assignment.value, expressions_.expression());
      result.assignments.push_back(std::move(assignment));
    }
    ASSIGN_OR_RETURN(result.body, body("endwith"));
    return state_.statement(line, std::move(result));
  }

  // Marks the assistant's words for training; for us it only has a scope of its own.
  Result<StatementPtr> parse_generation(int line) {
    ast::Scoped result;
    ASSIGN_OR_RETURN(result.body, body("endgeneration"));
    return state_.statement(line, std::move(result));
  }

  Result<StatementPtr> parse_do(int line) {
    ASSIGN_OR_RETURN(const Expr expression, expressions_.expression_or_tuple());
    RETURN_IF_ERROR(close_tag());
    return state_.statement(line, ast::Do{expression});
  }

  template <class Jump>
  Result<StatementPtr> parse_jump(int line) {
    if (loops_ == 0) return syntax_error(line, "break and continue belong into a loop");
    RETURN_IF_ERROR(close_tag());
    return state_.statement(line, Jump{});
  }

  ParseState& state_;
  TokenReader& tokens_;
  ExpressionParser expressions_;
  size_t loops_ = 0;  // that surround the current place
};

const StatementParser::Tag* StatementParser::find(std::string_view name) {
  static constexpr Tag kTags[] = {
      {"if", &StatementParser::parse_if},
      {"for", &StatementParser::parse_for},
      {"set", &StatementParser::parse_set},
      {"macro", &StatementParser::parse_macro},
      {"call", &StatementParser::parse_call},
      {"filter", &StatementParser::parse_filter},
      {"with", &StatementParser::parse_with},
      {"generation", &StatementParser::parse_generation},
      {"do", &StatementParser::parse_do},
      {"break", &StatementParser::parse_jump<ast::Break>},
      {"continue", &StatementParser::parse_jump<ast::Continue>},
  };
  const auto* found = std::find_if(std::begin(kTags), std::end(kTags),
                                   [&](const Tag& tag) { return name == tag.name; });
  return found == std::end(kTags) ? nullptr : found;
}

}  // namespace

Result<std::unique_ptr<const ast::Tree>> parse(std::string_view source,
                                               const TemplateLimits& limits) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, tokenize(source, limits));
  TokenReader reader(std::move(tokens));
  ParseState state{.tokens = reader, .limits = limits, .tree = {}};
  RETURN_IF_ERROR(StatementParser(state).parse_root());
  return std::make_unique<const ast::Tree>(std::move(state.tree));
}

}  // namespace evener::chat::jinja
