#include "serve/cors.h"

#include <algorithm>
#include <string>

namespace evener::serve {
namespace {

bool is_port(std::string_view text) {
  if (text.empty()) return true;
  text.remove_prefix(1);
  return !text.empty() && text.size() <= 5 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_local_origin(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!origin.starts_with(scheme)) continue;
    const std::string_view rest = origin.substr(scheme.size());
    for (const std::string_view host : {"localhost", "127.0.0.1", "[::1]"}) {
      if (!rest.starts_with(host)) continue;
      const std::string_view port = rest.substr(host.size());
      if (port.empty() || (port.front() == ':' && is_port(port))) return true;
    }
  }
  return false;
}

Headers cors_headers(const HttpRequest& request) {
  const auto origin = find_header(request.headers, "origin");
  if (!origin) return {};
  if (!is_local_origin(*origin)) return {{"Vary", "Origin"}};
  return {{"Vary", "Origin"},
          {"Access-Control-Allow-Origin", std::string(*origin)},
          {"Access-Control-Expose-Headers", "x-request-id"}};
}

HttpResponse preflight_response(const HttpRequest& request) {
  HttpResponse response{.status = 204, .content_type = "", .headers = {}, .body = ""};
  response.headers.emplace_back("Allow", "GET, HEAD, POST, OPTIONS");
  const auto origin = find_header(request.headers, "origin");
  if (!origin || !is_local_origin(*origin)) return response;
  response.headers.emplace_back("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS");
  // Named one by one: "*" does not cover Authorization. SDKs add headers of their own,
  // x-stainless-*.
  const auto wanted = find_header(request.headers, "access-control-request-headers");
  response.headers.emplace_back(
      "Access-Control-Allow-Headers",
      wanted ? std::string(*wanted) : "authorization, content-type, x-api-key");
  response.headers.emplace_back("Access-Control-Max-Age", "600");
  return response;
}

}  // namespace evener::serve
