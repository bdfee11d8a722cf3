#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "serve/http_handler.h"
#include "serve/server_options.h"

namespace evener::serve {

// Accepts connections and brings their requests to a handler. Owns its threads.
class HttpServer {
 public:
  // Listens at once. `handler` must outlive it. Errors: as Server::start.
  static Result<std::unique_ptr<HttpServer>> start(const ServerOptions& options,
                                                   HttpHandler& handler);

  ~HttpServer();

  uint16_t port() const;

  // Accepts no more, waits for running requests for `patience`, aborts the rest as server_stopping,
  // and joins all threads. The handler refuses what comes meanwhile over open connections.
  void stop(std::chrono::milliseconds patience);

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evener::serve
