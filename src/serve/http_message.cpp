#include "serve/http_message.h"

#include <algorithm>
#include <array>

namespace evener::serve {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

// Proxies send "http://host:port/path".
std::string_view without_origin(std::string_view target) {
  const size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return target;
  const size_t slash = target.find('/', scheme + 3);
  return slash == std::string_view::npos ? "/" : target.substr(slash);
}

}  // namespace

std::optional<std::string_view> find_header(const Headers& headers, std::string_view name) {
  const auto found = std::ranges::find(
      headers, name, [](const auto& field) { return std::string_view(field.first); });
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

std::string normalise_path(std::string_view target) {
  target = without_origin(target);
  target = target.substr(0, target.find_first_of("?#"));
  std::string path = "/";
  for (const char c : percent_decoded(target)) {
    if (c != '/' || path.back() != '/') path += c;
  }
  if (path.size() > 1 && path.back() == '/') path.pop_back();
  if (path == "/v1") return "/";
  if (path.starts_with("/v1/")) path.erase(0, 3);
  return path;
}

std::string_view reason_phrase(int status) {
  struct Reason {
    int status;
    std::string_view phrase;
  };
  static constexpr std::array kReasons = {
      Reason{200, "OK"},
      Reason{204, "No Content"},
      Reason{304, "Not Modified"},
      Reason{400, "Bad Request"},
      Reason{401, "Unauthorized"},
      Reason{404, "Not Found"},
      Reason{405, "Method Not Allowed"},
      Reason{408, "Request Timeout"},
      Reason{413, "Content Too Large"},
      Reason{431, "Request Header Fields Too Large"},
      Reason{500, "Internal Server Error"},
      Reason{501, "Not Implemented"},
      Reason{503, "Service Unavailable"},
  };
  const auto found = std::ranges::find(kReasons, status, &Reason::status);
  return found == kReasons.end() ? "Unknown" : found->phrase;
}

}  // namespace evener::serve
