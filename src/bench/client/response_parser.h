#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace evener::bench {

struct ResponseHead {
  int status = 0;
  std::string content_type;      // in lower case, without parameters: "text/event-stream"
  std::string content_encoding;  // in lower case
  std::string location;
};

// Reads one HTTP/1.x answer in whatever pieces it comes. Interim answers (1xx) are passed over.
class ResponseParser {
 public:
  ResponseParser();
  ~ResponseParser();

  // False: it wants no more; the rest is dropped.
  using OnBody = FunctionRef<bool(std::string_view bytes)>;

  enum class State { head, body, complete, stopped, failed };
  // Tells the bytes of the body as they come. Bytes after `complete` are a server's mistake and
  // make keeps_alive() false.
  State feed(std::string_view bytes, OnBody on_body);
  // The connection has ended. `complete` if that is how the body ends, else `failed`.
  State end();

  State state() const;
  const ResponseHead& head() const;  // from State::body on
  bool keeps_alive() const;          // once complete
  const std::string& why() const;    // it failed

  static constexpr size_t kHeadBytesMax = size_t{64} << 10;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace evener::bench
