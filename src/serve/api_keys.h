#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/http_message.h"

namespace evener::serve {

// Who may ask. Comparing takes the same time wherever two keys begin to differ.
class ApiKeys {
 public:
  explicit ApiKeys(std::vector<std::string> keys) : keys_(std::move(keys)) {}

  // True if there are no keys, or if the request carries one of them.
  bool allow(const HttpRequest& request) const { return keys_.empty() || key_of(request); }

  // The one of our keys that the request carries, as "x-api-key: KEY" or "Authorization: Bearer
  // KEY"; none also if there are no keys. Valid as long as the request.
  std::optional<std::string_view> key_of(const HttpRequest& request) const;

 private:
  bool known(std::string_view key) const;

  std::vector<std::string> keys_;
};

}  // namespace evener::serve
