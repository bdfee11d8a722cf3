#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evener::serve {

// Header fields in the order they came; names in lower case.
using Headers = std::vector<std::pair<std::string, std::string>>;

// The value of the first field of that (lower-case) name.
std::optional<std::string_view> find_header(const Headers& headers, std::string_view name);

struct HttpRequest {
  std::string id;      // x-request-id: the client's or one of ours
  std::string method;  // "POST"
  std::string target;  // as sent: "/v1//models?beta=true"
  std::string path;    // normalised, see normalise_path(): "/models"
  Headers headers;
  std::string body;
  std::string address = {};  // of the client, without port: "127.0.0.1"
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  Headers headers;
  std::string body;
};

// What routes mean by a target: without scheme and host, query string, "/v1", doubled and trailing
// slashes; %XX decoded. "" becomes "/".
std::string normalise_path(std::string_view target);

// "Not Found" for 404; "Unknown" for a status this server never sends.
std::string_view reason_phrase(int status);

}  // namespace evener::serve
