#include "serve/server.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "serve/engine_generator.h"
#include "serve/host_report.h"
#include "serve/http_server.h"
#include "serve/metrics.h"
#include "serve/router.h"
#include "serve/server_state.h"
#include "serve/static_files.h"
#include "serve/unix_seconds.h"

namespace evener::serve {
class Server::Impl {
 public:
  explicit Impl(ServerOptions server_options)
      : options(std::move(server_options)),
        router(options, state, metrics, StaticFiles(embedded_files())) {
    if (options.host_report) state.set_host(std::make_shared<HostReport>(options.host_report));
  }

  ServerOptions options;
  ServerState state;
  Metrics metrics;
  Router router;
  std::unique_ptr<HttpServer> http;
};

Result<std::unique_ptr<Server>> Server::start(ServerOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  ASSIGN_OR_RETURN(impl->http, HttpServer::start(impl->options, impl->router));
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() { stop(); }

uint16_t Server::port() const { return impl_->http->port(); }

std::string Server::url() const {
  const std::string& host = impl_->options.host;
  const bool is_v6 = host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("http://[{}]:{}", host, port())
               : fmt::format("http://{}:{}", host, port());
}

void Server::set_loading(const engine::LoadState& state) { impl_->state.set_loading(state); }

void Server::set_engine(engine::Engine& engine, chat::ChatTemplate chat_template) {
  set_generator(std::make_unique<EngineGenerator>(engine), std::move(chat_template));
}

void Server::set_generator(std::unique_ptr<Generator> generator, chat::ChatTemplate chat_template) {
  std::string id = impl_->options.model_alias;
  if (id.empty()) id = generator->facts().id;
  impl_->state.set_ready(
      std::make_shared<const Service>(Service{.generator = std::move(generator),
                                              .chat_template = std::move(chat_template),
                                              .model_id = std::move(id),
                                              .created_seconds = unix_seconds()}));
}

void Server::set_failed(Error error) {
  log::error("{}", to_string(error));
  impl_->state.set_failed(std::move(error));
}

void Server::stop() {
  impl_->state.set_draining();
  impl_->http->stop(impl_->options.drain_patience);
  impl_->state.release_service();
}

}  // namespace evener::serve
