#pragma once

#include <optional>
#include <string>

#include "serve/exchange.h"
#include "serve/http_message.h"

namespace evener::serve {

// One request when all is over, for log and metrics.
struct RequestRecord {
  const HttpRequest& request;
  int status = 0;  // 499 when the client left before the answer was complete
  double milliseconds = 0;
  std::string note;
};

// What HttpServer serves. All methods may be called from several threads at once.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // The header has come and the body has not: an answer here saves reading it. `head.body` is
  // empty.
  virtual std::optional<HttpResponse> refuse(const HttpRequest& head) = 0;
  // Headers that every answer to this request gets.
  virtual Headers common_headers(const HttpRequest& head) = 0;
  // Answers, at once or later. Called on a worker thread, so it may take its time.
  virtual void handle(ExchangePtr exchange) = 0;
  // The answer has been handed to the operating system, or nobody wants it any more.
  virtual void ended(const RequestRecord& record) = 0;
};

}  // namespace evener::serve
