#include "bench/client/refusal.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "bench/client/fields.h"

namespace evener::bench {
namespace {

constexpr size_t kMessageBytesMax = 300;

std::string message_of(std::string_view body) {
  if (const Result<json::Value> value = json::parse(body, "answer")) {
    if (std::string message = server_message(*value); !message.empty()) return message;
  }
  return printable(body, kMessageBytesMax);
}

std::string remedy_for(int status, const ResponseHead& head, const Url& url) {
  if (status == 401) return "give the server's key with --api-key";
  if (status == 403) return "the key given may not do this";
  if (status == 404) {
    return fmt::format("is --model one of this server's, and is '{}/v1' right below its URL?",
                       url.prefix);
  }
  if (status / 100 == 3) {
    return "it has moved to '" + printable_word(head.location) + "': give that URL";
  }
  if (status == 429) return "the server limits requests: ask for fewer at a time";
  return {};
}

}  // namespace

Refusal explain_refusal(const ResponseHead& head, std::string_view body, const Url& url) {
  const int status = head.status;
  std::string words = fmt::format("the server answered HTTP {}", status);
  if (const std::string message = message_of(body); !message.empty()) words += ": " + message;
  if (const std::string remedy = remedy_for(status, head, url); !remedy.empty()) {
    words += "; " + remedy;
  }
  const bool refused = status == 401 || status == 403 || status == 404;
  return {.fault = refused ? Fault::refused : Fault::http_error, .words = std::move(words)};
}

std::string printable_word(std::string_view word) { return printable(word, 100); }

}  // namespace evener::bench
