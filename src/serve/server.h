#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "chat/chat_template.h"
#include "engine/engine.h"
#include "serve/generator.h"
#include "serve/server_options.h"

namespace evener::serve {

// The HTTP server: OpenAI-style API, health, metrics and the web page. It listens before there is a
// model, so that /health can tell how far loading is; the owner reports loading and then hands the
// engine over.
//
//   auto server = Server::start(options);       // listens; /health says 503 with progress
//   server->set_loading(state);                 // as often as the loader reports
//   server->set_engine(*engine, chat_template);  // from here on everything is answered
//   server->stop();                             // drains; then the engine may go
//
// Threads: start(), stop() and the destructor belong to the owner; the setters may be called from
// any thread. Source: reference/serving/api.md. Judge: tests/serve, tests/e2e.
class Server {
 public:
  // Errors: unavailable when the port is taken, invalid_argument for a host that does not resolve,
  // permission_denied for a port below 1024.
  static Result<std::unique_ptr<Server>> start(ServerOptions options);

  // stop()s if nobody did.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const;    // the real one
  std::string url() const;  // "http://127.0.0.1:8080"

  void set_loading(const engine::LoadState& state);
  // `engine` must live until stop() has returned, and must be gone before this server is: the last
  // updates of sequences that were cancelled still come here.
  void set_engine(engine::Engine& engine, chat::ChatTemplate chat_template);
  // The same for anything that generates.
  void set_generator(std::unique_ptr<Generator> generator, chat::ChatTemplate chat_template);
  // Loading has failed: every route but /health and the page says so from now on.
  void set_failed(Error error);

  // Accepts no more connections, answers new requests with 503 and Retry-After, lets running
  // answers finish for ServerOptions::drain_patience, then ends them with an error. Returns when
  // all threads have ended. A second call does nothing.
  void stop();

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evener::serve
