#include "serve/caller.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <string>

namespace evener::serve {
namespace {

// Never 0, which stands for nobody.
uint64_t number_of(const std::string& text) {
  return std::max<uint64_t>(1, XXH3_64bits(text.data(), text.size()));
}

}  // namespace

Caller caller_of(const HttpRequest& request, const std::optional<std::string_view>& key) {
  if (!key) return {.client = number_of("address " + request.address), .salt = 0};
  const uint64_t number = number_of(fmt::format("key {}", *key));
  return {.client = number, .salt = number};
}

uint64_t salt_of(const Caller& caller, std::string_view cache_salt) {
  if (cache_salt.empty()) return caller.salt;
  return number_of(fmt::format("salt {} {}", caller.salt, cache_salt));
}

uint64_t session_of(const HttpRequest& request, const Caller& caller, std::string_view field) {
  std::string_view name = field;
  for (const char* header : {"session_id", "session-id", "x-session-id"}) {
    name = find_header(request.headers, header).value_or(name);
  }
  return name.empty() ? 0 : number_of(fmt::format("session {} {}", caller.client, name));
}

}  // namespace evener::serve
