#include "bench/scripted_server.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "bench/scripted/routes.h"
#include "bench/scripted/state.h"
#include "bench/scripted/wire.h"

namespace evener::bench {
namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

class ScriptedServer::Impl {
 public:
  Impl() : acceptor_(io_, Tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    port_ = acceptor_.local_endpoint().port();
    accepting_ = std::thread([this] { accept(); });
  }

  ~Impl() {
    state.stop();
    ::shutdown(acceptor_.native_handle(), SHUT_RDWR);  // accept() returns
    accepting_.join();
    for (Connection& connection : connections_) connection.wire.shut();
    for (Connection& connection : connections_) connection.thread.join();
  }

  uint16_t port() const { return port_; }

  scripted::State state;

 private:
  struct Connection {
    explicit Connection(Tcp::socket socket) : wire(std::move(socket)) {}
    scripted::Wire wire;
    std::thread thread;
  };

  void accept() {
    for (;;) {
      boost::system::error_code error;
      Tcp::socket socket = acceptor_.accept(error);
      if (error) return;
      Connection& connection = connections_.emplace_back(std::move(socket));
      connection.thread = std::thread([this, &connection] { serve(connection.wire); });
    }
  }

  void serve(scripted::Wire& wire) {
    scripted::Request request;
    while (wire.read(request) && scripted::answer(state, wire, request)) {
    }
    wire.shut();
  }

  asio::io_context io_;
  Tcp::acceptor acceptor_;
  uint16_t port_ = 0;
  std::list<Connection> connections_;  // of the accepting thread, then of the destructor
  std::thread accepting_;
};

ScriptedServer::ScriptedServer(Script script) : impl_(std::make_unique<Impl>()) {
  impl_->state.set(std::move(script));
}

ScriptedServer::~ScriptedServer() = default;

std::string ScriptedServer::url() const {
  return fmt::format("http://127.0.0.1:{}", impl_->port());
}

void ScriptedServer::set(Script script) { impl_->state.set(std::move(script)); }

void ScriptedServer::release() { impl_->state.release(); }

void ScriptedServer::wait_until_held(size_t num) { impl_->state.wait_until_held(num); }

std::vector<json::Value> ScriptedServer::bodies() const { return impl_->state.bodies(); }

size_t ScriptedServer::num_flushes() const { return impl_->state.num_flushes(); }

}  // namespace evener::bench
