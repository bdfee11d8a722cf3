#pragma once

#include <string>

namespace evener::bench {

// Why an exchange with a server came to nothing.
struct Failure {
  enum class Kind {
    no_connection,  // refused, no such host, TLS
    reset,          // ended or broke before the answer was whole
    no_http,        // something else answers there
    timeout,
    cancelled,
  };
  Kind kind = Kind::reset;
  std::string why;  // a sentence, with the remedy where there is one
};

}  // namespace evener::bench
