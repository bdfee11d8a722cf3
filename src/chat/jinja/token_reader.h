#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "chat/jinja/token.h"

namespace evener::chat::jinja {

// Walks over the tokens of a template.
class TokenReader {
 public:
  explicit TokenReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& peek(size_t ahead = 0) const {
    return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
  }
  int line() const { return peek().line; }
  int previous_line() const { return tokens_[position_ == 0 ? 0 : position_ - 1].line; }

  Token next() {
    Token token = peek();
    if (position_ + 1 < tokens_.size()) ++position_;
    return token;
  }

  bool skip_symbol(const char* symbol) { return skip(peek().is_symbol(symbol)); }
  bool skip_name(const char* name) { return skip(peek().is_name(name)); }
  bool skip(Token::Kind kind) { return skip(peek().kind == kind); }

  Status expect_symbol(const char* symbol);
  Status expect_name(const char* name);
  Status expect(Token::Kind kind);
  Result<std::string> expect_identifier();

  // "unexpected 'x', expected WHAT" at the current token.
  Error unexpected(std::string_view expected) const;

 private:
  bool skip(bool matches) {
    if (matches) next();
    return matches;
  }

  std::vector<Token> tokens_;
  size_t position_ = 0;
};

}  // namespace evener::chat::jinja
