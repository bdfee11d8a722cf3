#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <string>

#include "serve/api_error.h"
#include "serve/http_message.h"

namespace evener::serve {

struct RequestLimits {
  size_t header_bytes_max = size_t{16} << 10;
  size_t body_bytes_max = size_t{64} << 20;
};

// Takes one HTTP/1.x request out of a stream of bytes, however they are cut. Checks form, header
// size and body size; knows Content-Length and chunked bodies. Not for several threads at once.
// Judge: tests/serve/request_reader_test.cpp.
class RequestReader {
 public:
  enum class State {
    header,  // more bytes needed
    body,    // the header is complete: see head(); more bytes needed
    done,    // take_request()
  };

  explicit RequestReader(RequestLimits limits);
  ~RequestReader();

  // Consumes bytes from the front of `bytes` (which shall begin with what was left over) and says
  // how many. Stops at the end of the header once, so that the request may be refused before its
  // body is read, and at the end of the request. Errors: 400 malformed, 413, 431; the connection
  // cannot be used any more then.
  std::expected<size_t, ApiError> feed(std::span<const char> bytes);

  State state() const { return state_; }
  bool untouched() const { return untouched_; }  // not one byte has come

  // state() is body or done: all but the body.
  const HttpRequest& head() const { return head_; }
  bool keep_alive() const;
  bool expects_continue() const;
  bool is_http10() const;

  // state() is done. The reader is at its beginning again.
  HttpRequest take_request();

 private:
  struct Parser;
  void read_head();

  RequestLimits limits_;
  std::unique_ptr<Parser> parser_;
  State state_ = State::header;
  bool untouched_ = true;
  HttpRequest head_;
};

}  // namespace evener::serve
