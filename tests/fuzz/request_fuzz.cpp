// Any bytes as what a client sends. The first byte says how the rest is cut into reads; it is read
// as HTTP, and the bodies (and the rest itself) as requests of every route that takes JSON. What
// comes out must be a request within its limits or an error with a client's status.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/log.h"
#include "base/utf8.h"
#include "serve/chat_request.h"
#include "serve/completion_request.h"
#include "serve/request_reader.h"
#include "serve/response_head.h"

namespace evener::serve {
namespace {

// Tokens are bytes; nothing is generated.
class ByteModel : public Generator {
 public:
  ByteModel() { facts_.vocab_size = 256; }
  Result<engine::SequenceId> submit(engine::GenerationRequest, engine::Sink) override { return 1; }
  void cancel(engine::SequenceId) override {}
  void flush_cache() override {}
  const engine::ModelFacts& facts() const override { return facts_; }
  const engine::EngineOptions& options() const override { return options_; }
  engine::Stats stats() const override { return {}; }
  std::vector<TokenId> tokenize(std::string_view text, TokenizeOptions) const override {
    std::vector<TokenId> ids;
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
    return ids;
  }
  bool ends_turn(TokenId id) const override { return id == 0; }
  std::string token_bytes(TokenId id) const override {
    return std::string(1, static_cast<char>(id));
  }
  std::string detokenize(std::span<const TokenId> ids) const override {
    std::string text;
    for (const TokenId id : ids) text += token_bytes(id);
    return text;
  }

 private:
  engine::ModelFacts facts_;
  engine::EngineOptions options_;
};

const chat::ChatTemplate& some_template() {
  static const chat::ChatTemplate parsed = *chat::ChatTemplate::parse(
      "{% if tools %}{{ tools | tojson }}{% endif %}"
      "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}"
      "{{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}",
      {});
  return parsed;
}

void check(const ApiError& error) {
  EVENER_ASSERT(error.status >= 400);
  EVENER_ASSERT(error.status < 500);
  EVENER_ASSERT(utf8::is_valid(to_json(error)));
}

void check_sampling(const GenerationFields& fields) {
  EVENER_ASSERT(fields.sampling.temperature >= 0);
  EVENER_ASSERT(fields.num_choices >= 1);
  EVENER_ASSERT(fields.num_choices <= 8);
  EVENER_ASSERT(fields.stop.size() <= 16);
}

void read_body(std::string_view bytes) {
  static const ByteModel model;
  const auto body = parse_object(bytes);
  if (!body) return check(body.error());
  if (const auto chat = parse_chat_request(*body, some_template(), 256)) {
    check_sampling(chat->generation);
    const auto prompt =
        render_prompt(chat->conversation, chat->continue_final_message, some_template());
    if (!prompt) check(prompt.error());
  } else {
    check(chat.error());
  }
  if (const auto completion = parse_completion_request(*body, model)) {
    check_sampling(completion->generation);
    EVENER_ASSERT(!completion->prompts.empty());
    for (const auto& prompt : completion->prompts) EVENER_ASSERT(!prompt.empty());
  } else {
    check(completion.error());
  }
}

void read_http(std::string_view bytes, size_t piece) {
  constexpr RequestLimits kLimits{.header_bytes_max = 1000, .body_bytes_max = 5000};
  RequestReader reader(kLimits);
  std::string received;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    received += bytes.substr(0, piece);
    for (;;) {
      const auto used = reader.feed(received);
      if (!used) return check(used.error());
      EVENER_ASSERT(*used <= received.size());
      received.erase(0, *used);
      if (reader.state() == RequestReader::State::done) {
        const HttpRequest request = reader.take_request();
        EVENER_ASSERT(request.body.size() <= kLimits.body_bytes_max);
        EVENER_ASSERT(request.path.starts_with('/'));
        const std::string head = response_head({}, {.more = {{"x-request-id", request.id}}});
        EVENER_ASSERT(head.find("\r\n\r\n") == head.size() - 4);
        read_body(request.body);
      }
      if (*used == 0) break;
    }
  }
}

}  // namespace
}  // namespace evener::serve

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace evener;
  log::set_level(log::Level::error);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.empty()) return 0;
  serve::read_http(bytes.substr(1), static_cast<unsigned char>(bytes[0]) + size_t{1});
  serve::read_body(bytes.substr(1));
  return 0;
}
