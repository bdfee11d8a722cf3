#include "bench/client/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace evener::bench {
namespace {

constexpr size_t kLengthMax = 2048;

Error bad_url(std::string_view text, std::string why) {
  return Error{.code = Code::invalid_argument,
               .doing = "use the server's URL",
               .where = "'" + printable(text) + "'",
               .why = std::move(why),
               .remedy = "give it like http://127.0.0.1:8080 or https://example.org/prefix"};
}

bool is_plain(char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '<' && c != '>'; }

bool is_port(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port >= 1 && port <= 65535;
}

std::string_view without_tail(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path == "/v1" || path.ends_with("/v1")) path.remove_suffix(3);
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

// Splits "host:port", "[::1]:port" or a host alone. False: the brackets are wrong.
bool split_authority(std::string_view authority, std::string_view& host, std::string_view& port) {
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) return false;
    host = authority.substr(1, end - 1);
    authority.remove_prefix(end + 1);
    if (host.find(':') == std::string_view::npos) return false;
    if (authority.empty()) return true;
    port = authority.substr(1);
    return authority[0] == ':' && !port.empty();
  }
  const size_t colon = authority.find(':');
  host = authority.substr(0, colon);
  if (colon == std::string_view::npos) return true;
  port = authority.substr(colon + 1);
  return !port.empty() && port.find(':') == std::string_view::npos;
}

}  // namespace

std::string Url::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  const bool own_port = port == (https ? "443" : "80");
  return own_port ? name : name + ":" + port;
}

Result<Url> parse_url(std::string_view text) {
  if (text.size() > kLengthMax) return bad_url(text.substr(0, 100), "is too long");
  if (!std::all_of(text.begin(), text.end(), is_plain)) {
    return bad_url(text, "holds spaces or characters that no URL has");
  }
  Url url;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    url.https = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return bad_url(text, "does not begin with http:// or https://");
  }
  if (rest.find_first_of("?#") != std::string_view::npos) return bad_url(text, "has a query");

  const size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view authority = rest.substr(0, slash);
  if (authority.find('@') != std::string_view::npos) {
    return bad_url(text, "holds a user name; a key is an option of its own");
  }
  std::string_view host;
  std::string_view port = url.https ? "443" : "80";
  if (!split_authority(authority, host, port)) {
    return bad_url(text, "has no host and port that can be told apart");
  }
  if (host.empty()) return bad_url(text, "names no host");
  if (!is_port(port)) return bad_url(text, fmt::format("port '{}' is none of 1 to 65535", port));
  url.host = host;
  url.port = port;
  url.prefix = without_tail(rest.substr(slash));
  return url;
}

}  // namespace evener::bench
