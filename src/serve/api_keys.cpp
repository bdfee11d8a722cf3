#include "serve/api_keys.h"

#include <algorithm>
#include <cstddef>

namespace evener::serve {
namespace {

// The length of a key is no secret; its bytes are.
bool equal_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  }
  return difference == 0;
}

bool is_bearer(std::string_view scheme) {
  constexpr std::string_view kBearer = "bearer ";
  if (scheme.size() < kBearer.size()) return false;
  for (size_t i = 0; i < kBearer.size(); ++i) {
    if ((scheme[i] | 0x20) != (kBearer[i] | 0x20)) return false;
  }
  return true;
}

}  // namespace

bool ApiKeys::known(std::string_view key) const {
  bool found = false;
  for (const std::string& candidate : keys_) found |= equal_constant_time(candidate, key);
  return found;
}

std::optional<std::string_view> ApiKeys::key_of(const HttpRequest& request) const {
  if (const auto key = find_header(request.headers, "x-api-key"); key && known(*key)) return key;
  const auto authorization = find_header(request.headers, "authorization");
  if (!authorization || !is_bearer(*authorization)) return std::nullopt;
  std::string_view key = authorization->substr(7);
  key.remove_prefix(std::min(key.find_first_not_of(' '), key.size()));
  if (!known(key)) return std::nullopt;
  return key;
}

}  // namespace evener::serve
