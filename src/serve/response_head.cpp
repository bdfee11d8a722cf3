#include "serve/response_head.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <string_view>

namespace evener::serve {
namespace {

void add_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  for (const char c : value) {
    if (c != '\r' && c != '\n' && c != '\0') out += c;
  }
  out += "\r\n";
}

bool has_body(int status) { return status != 204 && status != 304; }

}  // namespace

std::string response_head(const HttpResponse& response, const ResponseHeadOptions& options) {
  std::string out =
      fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_phrase(response.status));
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  add_field(out, "Date", fmt::format("{:%a, %d %b %Y %H:%M:%S GMT}", fmt::gmtime(now)));
  if (!response.content_type.empty()) add_field(out, "Content-Type", response.content_type);
  if (options.length == BodyLength::chunked) {
    add_field(out, "Transfer-Encoding", "chunked");
  } else if (options.length == BodyLength::known && has_body(response.status)) {
    add_field(out, "Content-Length", fmt::format("{}", response.body.size()));
  }
  add_field(out, "Connection", options.keep_alive ? "keep-alive" : "close");
  for (const auto& [name, value] : response.headers) add_field(out, name, value);
  for (const auto& [name, value] : options.more) add_field(out, name, value);
  return out + "\r\n";
}

}  // namespace evener::serve
