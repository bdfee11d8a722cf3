#include "serve/http_server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "serve/connection.h"
#include "serve/connection_list.h"

namespace evener::serve {
namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds kAcceptRetry{100};
constexpr std::chrono::milliseconds kFarewell{3'000};  // for what abort made connections say

std::string place(const ServerOptions& options) {
  return fmt::format("{}:{}", printable(options.host, 100), options.port);
}

Error listen_error(const ServerOptions& options, const ErrorCode& error) {
  Error out{.code = Code::unavailable,
            .doing = "listen",
            .where = place(options),
            .why = error.message(),
            .remedy = ""};
  if (error == asio::error::address_in_use) {
    out.why = "another program uses this port";
    out.remedy = "end it, or choose another port with --port, or --port 0 for any free one";
  } else if (error == asio::error::access_denied) {
    out.code = Code::permission_denied;
    out.remedy = "ports below 1024 need root: choose another with --port";
  } else {
    out.code = Code::invalid_argument;
    out.remedy = "--host must be an address of this machine: 127.0.0.1, or 0.0.0.0 for all of them";
  }
  return out;
}

// A connection is a descriptor, and many systems give a program 1024 unless it asks for more.
void allow_descriptors(size_t num_connections) {
  constexpr rlim_t kOthers = 256;  // model, logs, the cache's files
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(num_connections + kOthers, limit.rlim_max);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) log::debug("no more descriptors are to be had");
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const ServerOptions& options, HttpHandler& handler)
      : options_(options),
        handler_(handler),
        acceptor_(asio::make_strand(io_)),
        retry_(acceptor_.get_executor()),
        workers_(options.num_worker_threads) {}

  ErrorCode listen() {
    ErrorCode error;
    Tcp::resolver resolver(io_);
    const auto found = resolver.resolve(options_.host, std::to_string(options_.port), error);
    if (error) return error;
    const Tcp::endpoint endpoint = found.begin()->endpoint();
    if (acceptor_.open(endpoint.protocol(), error)) return error;
    if (acceptor_.set_option(Tcp::acceptor::reuse_address(true), error)) return error;
    if (acceptor_.bind(endpoint, error)) return error;
    if (acceptor_.listen(Tcp::acceptor::max_listen_connections, error)) return error;
    port_ = acceptor_.local_endpoint(error).port();
    if (!endpoint.address().is_loopback() && options_.api_keys.empty()) {
      log::warning("{} can be reached from other machines and asks for no key: set --api-key",
                   place(options_));
    }
    return error;
  }

  void run() {
    allow_descriptors(options_.connections_max);
    accept();
    for (size_t i = 0; i < options_.num_io_threads; ++i)
      threads_.emplace_back([this] { run_io(); });
  }

  void stop(std::chrono::milliseconds patience) {
    if (threads_.empty()) return;
    asio::post(acceptor_.get_executor(), [this] {
      stopping_ = true;
      ErrorCode error;
      if (acceptor_.close(error)) log::debug("closing the listener: {}", error.message());
      retry_.cancel();
    });
    connections_.for_each([](Connection& connection) { connection.close_when_idle(); });
    if (!connections_.wait_until_empty(patience)) {
      connections_.for_each(
          [](Connection& connection) { connection.abort(AbortReason::server_stopping); });
      connections_.wait_until_empty(kFarewell);
    }
    workers_.join();
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  uint16_t port() const { return port_; }

 private:
  void run_io() noexcept {
    for (;;) {
      try {
        io_.run();
        return;
      } catch (const std::exception& exception) {
        // Memory, or a library; the request at hand is lost, the others go on.
        log::error("an io thread goes on after: {}", exception.what());
      }
    }
  }

  void accept() {
    auto strand = asio::make_strand(io_);
    acceptor_.async_accept(strand, [this, strand](const ErrorCode& error, Tcp::socket socket) {
      if (stopping_ || !acceptor_.is_open()) return;
      if (error) return accept_later();
      if (connections_.size() < options_.connections_max) {
        admit(std::move(socket), strand);
      } else {
        log::warning("refused a connection: {} are open", options_.connections_max);
      }
      accept();
    });
  }

  // Out of file descriptors, most likely: trying at once would fail at once.
  void accept_later() {
    retry_.expires_after(kAcceptRetry);
    retry_.async_wait([this](const ErrorCode& error) {
      if (!error && !stopping_) accept();
    });
  }

  void admit(Tcp::socket socket, Connection::Strand strand) {
    const ConnectionContext context{
        .options = options_, .handler = handler_, .workers = workers_, .list = connections_};
    std::make_shared<Connection>(std::move(socket), std::move(strand), context)->start();
  }

  const ServerOptions& options_;
  HttpHandler& handler_;
  // Destroyed last: connections that die with io_ still take themselves off it.
  ConnectionList connections_;
  asio::io_context io_;
  Tcp::acceptor acceptor_;
  asio::steady_timer retry_;
  asio::thread_pool workers_;
  std::vector<std::thread> threads_;
  uint16_t port_ = 0;
  bool stopping_ = false;  // on the acceptor's strand only
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(const ServerOptions& options,
                                                      HttpHandler& handler) {
  auto impl = std::make_unique<Impl>(options, handler);
  if (const ErrorCode error = impl->listen()) return listen_error(options, error);
  impl->run();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() { impl_->stop(std::chrono::milliseconds(0)); }

uint16_t HttpServer::port() const { return impl_->port(); }

void HttpServer::stop(std::chrono::milliseconds patience) { impl_->stop(patience); }

}  // namespace evener::serve
