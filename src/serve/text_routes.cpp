#include "serve/text_routes.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "serve/chat_request.h"
#include "serve/fields.h"
#include "serve/json.h"

namespace evener::serve {
namespace {

constexpr size_t kMaxTokens = 1'000'000;

// Text and how it is read: a rendered conversation always names its special tokens.
struct Text {
  std::string text;
  TokenizeOptions options;
};

std::expected<Text, ApiError> read_text(Fields& fields, const Service& service) {
  const bool add_special =
      fields.boolean("add_special_tokens").value_or(fields.boolean("add_special").value_or(false));
  const bool parse_special = fields.boolean("parse_special").value_or(true);
  if (fields.has("messages")) {
    const chat::Conversation conversation = read_conversation(fields, service.chat_template);
    if (fields.error()) return std::unexpected(*fields.error());
    auto prompt = render_prompt(conversation, false, service.chat_template);
    if (!prompt) return std::unexpected(std::move(prompt).error());
    return Text{.text = *std::move(prompt), .options = {.add_bos = true, .parse_special = true}};
  }
  auto text = fields.string("content", kTextBytes);
  if (!text) text = fields.string("prompt", kTextBytes);
  if (!text) fields.invalid("content", "must be a string; or send prompt or messages");
  if (fields.error()) return std::unexpected(*fields.error());
  return Text{.text = *std::move(text),
              .options = {.add_bos = add_special, .parse_special = parse_special}};
}

// A piece that is half a character has no text: llama-server sends its bytes.
Json piece_json(const Generator& generator, TokenId id) {
  const std::string bytes = generator.token_bytes(id);
  if (utf8::is_valid(bytes)) return {{"id", id}, {"piece", bytes}};
  Json list = Json::array();
  for (const char byte : bytes) list.push_back(static_cast<unsigned char>(byte));
  return {{"id", id}, {"piece", std::move(list)}};
}

std::optional<std::vector<TokenId>> read_tokens(Fields& fields, size_t vocab_size) {
  const Json* list = fields.array("tokens", kMaxTokens);
  if (!list) {
    fields.invalid("tokens", "must be a list of token ids");
    return std::nullopt;
  }
  std::vector<TokenId> ids;
  for (const Json& id : *list) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= vocab_size) {
      fields.invalid("tokens", fmt::format("must hold token ids from 0 to {}", vocab_size - 1));
      return std::nullopt;
    }
    ids.push_back(static_cast<TokenId>(id.get<uint64_t>()));
  }
  return ids;
}

}  // namespace

void answer_tokenize(const RouteCall& call) {
  const auto body = parse_object(call.exchange->request().body);
  if (!body) return call.fail(body.error());
  Fields fields(*body);
  const bool with_pieces = fields.boolean("with_pieces").value_or(false);
  const bool with_strings = fields.boolean("return_token_strs").value_or(false);
  const auto text = read_text(fields, *call.service);
  if (!text) return call.fail(text.error());

  const Generator& generator = *call.service->generator;
  const std::vector<TokenId> ids = generator.tokenize(text->text, text->options);
  Json tokens = Json::array();
  Json strings = Json::array();
  for (const TokenId id : ids) {
    tokens.push_back(with_pieces ? piece_json(generator, id) : Json(id));
    if (with_strings) strings.push_back(utf8::replace_invalid(generator.token_bytes(id)));
  }
  Json out = {{"tokens", std::move(tokens)},
              {"count", ids.size()},
              {"max_model_len", generator.facts().admissible_tokens}};
  if (with_strings) out["token_strs"] = std::move(strings);
  call.respond(out);
}

void answer_detokenize(const RouteCall& call) {
  const auto body = parse_object(call.exchange->request().body);
  if (!body) return call.fail(body.error());
  Fields fields(*body);
  const Generator& generator = *call.service->generator;
  const auto ids = read_tokens(fields, generator.facts().vocab_size);
  if (!ids) return call.fail(*fields.error());
  const std::string text = utf8::replace_invalid(generator.detokenize(*ids));
  call.respond({{"content", text}, {"prompt", text}});
}

void answer_apply_template(const RouteCall& call) {
  const auto body = parse_object(call.exchange->request().body);
  if (!body) return call.fail(body.error());
  Fields fields(*body);
  const chat::Conversation conversation = read_conversation(fields, call.service->chat_template);
  if (fields.error()) return call.fail(*fields.error());
  const auto prompt = render_prompt(conversation, false, call.service->chat_template);
  if (!prompt) return call.fail(prompt.error());
  call.respond({{"prompt", *prompt}});
}

}  // namespace evener::serve
