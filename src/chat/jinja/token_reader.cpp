#include "chat/jinja/token_reader.h"

#include <fmt/format.h>

#include "base/text.h"
#include "chat/jinja/syntax_error.h"

namespace evener::chat::jinja {
namespace {

using Kind = Token::Kind;

std::string describe(Kind kind) {
  switch (kind) {
    case Kind::text:
      return "text";
    case Kind::output_begin:
      return "'{{'";
    case Kind::output_end:
      return "'}}'";
    case Kind::block_begin:
      return "'{%'";
    case Kind::block_end:
      return "'%}'";
    case Kind::name:
      return "a name";
    case Kind::string:
      return "a string";
    case Kind::integer:
    case Kind::real:
      return "a number";
    case Kind::symbol:
      return "an operator";
    case Kind::end:
      break;
  }
  return "the end of the template";
}

std::string describe(const Token& token) {
  const bool worded = token.kind == Kind::name || token.kind == Kind::symbol;
  return worded ? fmt::format("'{}'", printable(token.value, 40)) : describe(token.kind);
}

}  // namespace

Error TokenReader::unexpected(std::string_view expected) const {
  return syntax_error(line(), fmt::format("{} stands where {} is due", describe(peek()), expected));
}

Status TokenReader::expect_symbol(const char* symbol) {
  if (!skip_symbol(symbol)) return unexpected(fmt::format("'{}'", symbol));
  return {};
}

Status TokenReader::expect_name(const char* name) {
  if (!skip_name(name)) return unexpected(fmt::format("'{}'", name));
  return {};
}

Status TokenReader::expect(Token::Kind kind) {
  if (!skip(kind)) return unexpected(describe(kind));
  return {};
}

Result<std::string> TokenReader::expect_identifier() {
  if (peek().kind != Kind::name) return unexpected("a name");
  return next().value;
}

}  // namespace evener::chat::jinja
