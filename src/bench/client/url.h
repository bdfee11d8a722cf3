#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace evener::bench {

// The address of a server, taken apart.
struct Url {
  bool https = false;
  std::string host;    // "example.org", "127.0.0.1", "::1": as a resolver takes it
  std::string port;    // "8080"
  std::string prefix;  // "/proxy" or empty: what stands before "/v1/..."

  // As a Host field needs it: brackets around IPv6, the port where it is not the scheme's own.
  std::string authority() const;
};

// "http://host:8080/prefix/v1/" and the like. A trailing /v1 and trailing slashes are dropped.
// Errors (invalid_argument): another scheme, no host, a user name, a port out of range, spaces,
// control characters, a query.
Result<Url> parse_url(std::string_view text);

}  // namespace evener::bench
