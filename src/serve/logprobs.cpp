#include "serve/logprobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/utf8.h"

namespace evener::serve {
namespace {

// JSON has no infinity; this is what OpenAI sends for "never".
double finite(float logprob) { return std::isfinite(logprob) ? double{logprob} : -9999.0; }

Json byte_list(std::string_view bytes) {
  Json list = Json::array();
  for (const char byte : bytes) list.push_back(static_cast<unsigned char>(byte));
  return list;
}

Json entry(const engine::TokenLogprob& token) {
  return {{"token", utf8::replace_invalid(token.bytes)},
          {"logprob", finite(token.logprob)},
          {"bytes", byte_list(token.bytes)}};
}

// The completions protocol has no list of bytes: tokens that are no text are spelled out.
std::string spelled(std::string_view bytes) {
  if (utf8::is_valid(bytes)) return std::string(bytes);
  std::string out = "bytes:";
  for (const char byte : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return out;
}

// Bytes that begin a character, so that the halves of one count once.
size_t num_characters(std::string_view bytes) {
  return static_cast<size_t>(
      std::ranges::count_if(bytes, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace

Json chat_logprob(const engine::TokenOutput& token) {
  Json out = entry(token.chosen);
  Json top = Json::array();
  for (const auto& other : token.top) top.push_back(entry(other));
  out["top_logprobs"] = std::move(top);
  return out;
}

void CompletionLogprobs::add(const engine::TokenOutput& token, bool known) {
  const std::string text = spelled(token.chosen.bytes);
  tokens_.push_back(text);
  text_offset_.push_back(offset_);
  offset_ += num_characters(token.chosen.bytes);
  if (!known) {
    token_logprobs_.push_back(nullptr);
    top_logprobs_.push_back(nullptr);
    return;
  }
  token_logprobs_.push_back(finite(token.chosen.logprob));
  Json top = Json::object();
  for (const auto& other : token.top) top.emplace(spelled(other.bytes), finite(other.logprob));
  top.emplace(text, finite(token.chosen.logprob));  // the chosen one is always among them
  top_logprobs_.push_back(std::move(top));
}

Json CompletionLogprobs::take() {
  Json out = {{"tokens", std::exchange(tokens_, Json::array())},
              {"token_logprobs", std::exchange(token_logprobs_, Json::array())},
              {"top_logprobs", std::exchange(top_logprobs_, Json::array())},
              {"text_offset", std::exchange(text_offset_, Json::array())}};
  return out;
}

}  // namespace evener::serve
